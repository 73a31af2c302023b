//! The numbers the Gateway's judge keeps, and where each comes from.

use std::time::Duration;

use crate::discord::limits::Rate;
use crate::discord::model::Gateway;
use crate::tokens::Tokens;

/// What a [`Model`](super::Model) is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limits it keeps.
    pub limits: Limits,
    /// How much it remembers.
    pub bounds: Bounds,
    /// Which tokens it takes.
    pub tokens: Tokens,
    /// Where it is, and what a bot has that no test set up.
    pub start: Gateway,
    /// Guilds of each shard, up to 1,000.
    pub guilds: u32,
    /// Members of each guild, up to 10,000.
    pub members: u32,
    /// What session ids and random weather come from.
    pub seed: u64,
    /// HELLO tells its interval times this: behind a port libraries beat in real time.
    pub told_scale: f64,
    /// Unix time, in milliseconds, of the model's moment zero.
    pub epoch_unix_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            bounds: Bounds::default(),
            tokens: Tokens::default(),
            start: Gateway::default(),
            guilds: 1,
            members: 1,
            seed: 1,
            told_scale: 1.0,
            epoch_unix_ms: 1_700_000_000_000,
        }
    }
}

/// The limits (<https://discord.com/developers/docs/events/gateway>, unless another source is named).
#[derive(Clone, Debug)]
pub struct Limits {
    /// Told by HELLO; 41,250 ms is what Discord tells.
    pub heartbeat_interval: Duration,
    /// So many intervals without a heartbeat end the connection.
    pub heartbeat_patience: f64,
    /// The code with which they do: 4009, or 4000, which keeps the session.
    pub heartbeat_close: u16,
    /// Frames of a connection, heartbeats and all, in any span of that length; one more is a 4008.
    pub frames: Rate,
    /// Longest frame, in bytes; a longer one is a 4002.
    pub frame_bytes: usize,
    /// From one IDENTIFY to the next in a bucket (`shard % max_concurrency`).
    pub identify_spacing: Duration,
    /// Until the budget of IDENTIFYs is whole again.
    pub day: Duration,
    /// Requests for all members of a guild by a bot (change log of 2025-08-13).
    pub members: Rate,
    /// Presence updates of a connection. Counted only: no code is known (discord-api-docs#309).
    pub presence: Rate,
    /// How long a session without a connection can be resumed. Published: a few minutes.
    pub session_keep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            heartbeat_interval: Duration::from_millis(41_250),
            heartbeat_patience: 1.5,
            heartbeat_close: 4009,
            frames: Rate::new(120, 60_000),
            frame_bytes: 4096,
            identify_spacing: Duration::from_secs(5),
            day: Duration::from_secs(86_400),
            members: Rate::new(1, 30_000),
            presence: Rate::new(5, 60_000),
            session_keep: Duration::from_secs(180),
        }
    }
}

/// How much the model may remember.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at once; one more is refused with 503.
    pub connections: usize,
    /// Sessions; past it the one that has been without a connection for longest goes.
    pub sessions: usize,
    /// Bots; past it the one unused for longest goes.
    pub bots: usize,
    /// Dispatches kept of a session for RESUME.
    pub ring: usize,
    /// Bytes of them over all sessions.
    pub ring_bytes: usize,
    /// Outputs that wait to be polled; past it connections are cut.
    pub outputs: usize,
    /// Bytes of them; past it connections are cut.
    pub output_bytes: usize,
    /// Lines of the log.
    pub log: usize,
    /// Scripts that wait.
    pub scripts: usize,
    /// Guilds whose last request for all members is remembered, of a bot.
    pub guilds: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 20_000,
            sessions: 50_000,
            bots: 10_000,
            ring: 8_192,
            ring_bytes: 512 << 20,
            outputs: 1_000_000,
            output_bytes: 512 << 20,
            log: 200_000,
            scripts: 1_000,
            guilds: 10_000,
        }
    }
}
