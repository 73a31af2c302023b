//! Dispatches a second: through the compressions alone, and through whole programs over real sockets.

mod bot;
mod corpus;
mod discord;
mod idle;
mod parts;
pub mod relay;
mod source;
mod whole;
/// The very sources that the program is made of.
#[path = "../../../tidegate-gateway/src/wire/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub, reason = "what is measured is a part of it")]
mod wire;

use anyhow::Result;

use self::wire::codec::Compression;

/// Measures and prints.
pub fn report(rounds: Option<&str>) -> Result<()> {
    let rounds = rounds.map_or(Ok(5), str::parse)?;
    parts::report(rounds)?;
    whole::report(rounds)
}

/// Measures shards at rest, and prints.
pub fn idle() -> Result<()> {
    idle::report()
}

/// The compressions, each as it is printed.
const COMPRESSIONS: [(&str, Compression); 3] =
    [("none", Compression::None), ("zlib-stream", Compression::Zlib), ("zstd-stream", Compression::Zstd)];
