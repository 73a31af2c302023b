//! `tidegate replay GATE`: feeds a pure gate from a trace of JSON lines and writes down all that it does.
//!
//! The first line is `{"new":{…}}`, each further one `{"at":MS,"input":…}`; each output is one line
//! `{"at":MS,"output":…}`. Between two inputs time moves to each moment at which the gate asked to be called.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bot;
pub mod cut;
mod driver;
mod error;
mod governor;
mod identify_queue;
mod line;
mod record;
mod send_queue;
mod shard;

#[cfg(test)]
mod tests;

pub use self::error::ReplayError;
pub use self::record::Recorder;
pub use self::send_queue::output::{dropped, refused};
pub use self::shard::output::{ended, stopped, waits};

use std::io::{BufRead, Write};

/// Feeds the gate of that name from a trace and writes down all that it does.
pub fn replay(gate: &str, input: impl BufRead, output: impl Write) -> Result<(), ReplayError> {
    match gate {
        "bot" => driver::replay::<bot::Codec>(input, output),
        "governor" => driver::replay::<governor::Codec>(input, output),
        "identify-queue" => driver::replay::<identify_queue::Codec>(input, output),
        "send-queue" => driver::replay::<send_queue::Codec>(input, output),
        "shard" => driver::replay::<shard::Codec>(input, output),
        other => Err(ReplayError::Gate(other.to_owned())),
    }
}
