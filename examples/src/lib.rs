//! What the examples share: a sandbox in the process, and a bot that comes back when it is refused.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

/// Any free port of this machine.
pub const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A token of the shape of Telegram's. The sandbox takes any.
pub const TELEGRAM_TOKEN: &str = "123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// A token of the shape of Discord's: an application's id in base64, and two more parts.
pub const DISCORD_TOKEN: &str = "MTIzNDU2.example.example";

/// What an example's `main` returns: an error makes it exit with 1.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// An error unless it holds.
pub fn ensure(holds: bool, what: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

/// Ends the process with an error where an example hangs.
pub fn end_in_time() {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(90));
        eprintln!("the example did not end within 90 s");
        std::process::exit(1);
    });
}
