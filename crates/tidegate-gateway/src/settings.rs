//! The numbers of the Gateway. The program's configuration fills them in.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::{identify_queue, send_queue, shard};

/// How the Gateway is served and used.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Each shard begins with a copy of it.
    pub shard: shard::Settings,
    /// Each connection's send queue begins with a copy of it.
    pub send_queue: send_queue::Settings,
    /// Each bot's identify queue begins with a copy of it.
    pub identify_queue: identify_queue::Settings,
    /// What HELLO tells bots.
    pub heartbeat_interval: Duration,
    /// What is kept for a RESUME.
    pub ring: Ring,
    /// How long a session goes on without a bot.
    pub detach_timeout: Duration,
    /// How long one that a bot logged out of goes on.
    pub logout_grace: Duration,
    /// How long a place in the identify line outlives its bot's connection.
    pub place_hold: Duration,
    /// The longest wait that a bot is left in without being told.
    pub quiet_max: Duration,
    /// When bots that take a session from each other have to wait.
    pub takeover: Takeover,
    /// Bytes that a bot may leave unread.
    pub unsent_max: usize,
    /// Shards that one bot may have.
    pub shards_max: usize,
    /// How Discord is asked to compress.
    pub compress: Compress,
    /// Hosts, besides the main address's, under which a resume address may lie.
    pub hosts: Vec<String>,
    /// From the dial to the connected socket, at each of a host's addresses.
    pub connect_timeout: Duration,
    /// Bots that are known at once.
    pub bots_max: usize,
    /// The bots that are served, by their ids; all of them where it is not there.
    pub bots: Option<HashSet<String>>,
    /// The Gateway address that bots are told; where it is not there, the one that they came to.
    pub public_url: Option<String>,
    /// Where traces of the gates are written.
    pub record: Option<PathBuf>,
}

/// The bounds of what is kept for a RESUME.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// Events of one shard.
    pub events: usize,
    /// Bytes of one shard.
    pub bytes: usize,
    /// Bytes of all shards of all bots.
    pub total_bytes: usize,
}

/// Bots that take a session from each other.
#[derive(Clone, Copy, Debug)]
pub struct Takeover {
    /// From so many within the window the newcomer waits.
    pub most: usize,
    /// The window.
    pub window: Duration,
    /// How long the newcomer waits.
    pub wait: Duration,
}

/// How Discord is asked to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compress {
    /// Not at all.
    No,
    /// `zlib-stream`.
    Zlib,
    /// `zstd-stream`.
    Zstd,
}
