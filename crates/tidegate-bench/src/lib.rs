//! What tidegate's figures are measured with. Each figure is a ratio of two things measured in turn, or a count.
#![expect(clippy::print_stdout, reason = "a command line tool speaks on its standard output")]
#![expect(clippy::cast_precision_loss, reason = "no figure has so many digits")]

pub mod callbacks;
pub mod decision;
// What it takes in of the program is tested there.
#[cfg(not(test))]
pub mod gateway;
pub mod http;
pub mod memory;
pub mod proxy;
mod sends;
mod spread;
pub mod upload;

pub use self::sends::{Sends, Shape};
