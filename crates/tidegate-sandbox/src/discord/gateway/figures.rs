//! What is counted, for each bot and over all.

use std::collections::BTreeMap;

use serde::Serialize;

use super::minute::Worst;

/// Figures of a bot, or of all; of all alone what came before anybody said who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Connections that opened (of a bot: those that said IDENTIFY or RESUME).
    pub connections: u64,
    /// Handshakes answered with a status of HTTP.
    pub refused: u64,
    /// IDENTIFYs with a token that is good: what the budget pays.
    pub identifies: u64,
    /// READYs given.
    pub ready: u64,
    /// RESUMEs with a token that is good.
    pub resumes: u64,
    /// Those of them that did not come to `resume_gateway_url`.
    pub resumes_elsewhere: u64,
    /// RESUMEDs given.
    pub resumed: u64,
    /// Op 9 given.
    pub invalid_sessions: u64,
    /// Op 7 given.
    pub reconnects: u64,
    /// IDENTIFYs within 5 s of one before in their bucket.
    pub spacing_violations: u64,
    /// The shortest time between two IDENTIFYs of a bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_spacing_ms: Option<u64>,
    /// Tokens taken away because the budget was gone.
    pub token_resets: u64,
    /// IDENTIFYs and RESUMEs with a token that is not taken.
    pub unauthorized: u64,
    /// Frames that came.
    pub frames: u64,
    /// Frames by opcode.
    pub by_op: BTreeMap<u8, u64>,
    /// Frames of subscriptions, op 14 and 37.
    pub subscriptions: u64,
    /// Presence updates over 5 in a minute.
    pub presence_over: u64,
    /// Requests for all members that came too soon.
    pub members_over: u64,
    /// Most frames of a connection in any minute.
    pub worst_minute: u32,
    /// The same without heartbeats, IDENTIFY and RESUME.
    pub worst_minute_queued: u32,
    /// The same of subscriptions alone.
    pub worst_minute_subscriptions: u32,
    /// The longest time between two heartbeats of a connection.
    pub worst_beat_gap_ms: u64,
    /// Dispatches written.
    pub dispatches: u64,
    /// Those of them that were written again after a RESUME.
    pub replayed: u64,
    /// Connections closed here, by code; 1006 is without a close frame.
    pub closes: BTreeMap<u16, u64>,
    /// Connections that clients closed, by code; 1006 is without a close frame.
    pub client_closes: BTreeMap<u16, u64>,
    /// What weather did.
    pub forced: u64,
}

impl Figures {
    pub(crate) fn see_minute(&mut self, worst: Worst) {
        self.worst_minute = self.worst_minute.max(worst.all);
        self.worst_minute_queued = self.worst_minute_queued.max(worst.queued);
        self.worst_minute_subscriptions = self.worst_minute_subscriptions.max(worst.subscriptions);
    }

    pub(crate) fn see_spacing(&mut self, since_us: Option<u64>) {
        if let Some(since_us) = since_us {
            let spacing_ms = since_us / 1000;
            self.least_spacing_ms = Some(self.least_spacing_ms.map_or(spacing_ms, |least| least.min(spacing_ms)));
        }
    }
}

/// One line of the log. Times are platform time since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GatewayEntry {
    /// Counts up from 1 and never again.
    pub seq: u64,
    /// When.
    pub at_ms: u64,
    /// The connection's number, 0 of a refused handshake.
    pub conn: u64,
    /// The bot's id, 0 until it is known.
    pub bot: u64,
    /// `[id, count]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<(u32, u32)>,
    /// What happened: `open`, `refused`, `identify`, `resume`, `ready`, `resumed`, `invalid`, `reconnect`, `frame`, `close`
    /// (by the Gateway), `closed` (by the client), `frozen`,
    /// `deaf`, `silent`, `token_reset`.
    pub what: &'static str,
    /// A close code, or a status of HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// Of an op 9: its `d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumable: Option<bool>,
    /// Of a frame: its opcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<u8>,
    /// Of a frame: its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// More of it, in words.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}
