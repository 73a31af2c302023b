//! The settings of the proxy. The program's configuration fills them in.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use tidegate_core::Span;
use tidegate_core::policy::Policy;

/// All that the proxy is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What bounds the use of memory, connections and patience.
    pub bounds: Bounds,
    /// The bots that are served, by their ids; all of them where it is not there.
    pub bots: Option<HashSet<String>>,
    /// How long the drain takes at most.
    pub drain_timeout: Duration,
    /// The Telegram edge.
    pub telegram: Telegram,
    /// The Discord edge.
    pub discord: Discord,
}

/// What bounds the use of memory, connections and patience.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Bytes of request bodies, over all calls.
    pub buffer_total: usize,
    /// Bots that are known at once, on each platform.
    pub bots_max: usize,
    /// A bot that was not heard of for this long may be forgotten.
    pub bots_idle: Duration,
    /// Connections of clients.
    pub connections_max: usize,
    /// Calls that one client address may have held, for each bot.
    pub held_per_client: usize,
    /// Bytes of a request's headers.
    pub header_block: usize,
    /// Bytes of a request's target.
    pub target_max: usize,
    /// How long the part of a body may take that a decision needs.
    pub decision_timeout: Duration,
    /// How long a connection may be at rest.
    pub idle_timeout: Duration,
    /// Bytes of a body that are read for a decision.
    pub body_max: usize,
    /// The same for multipart bodies.
    pub multipart_max: usize,
    /// Failures a minute that tokens may cause which never worked, all together.
    pub unproven_failures: usize,
    /// How long a token is not tried that the platform refused.
    pub breaker: Duration,
    /// How long connecting to a platform may take.
    pub connect_timeout: Duration,
}

/// The Telegram edge.
#[derive(Clone, Debug)]
pub struct Telegram {
    /// Where its API is.
    pub api: Uri,
    /// The policy in force when the program starts.
    pub policy: Arc<Policy>,
    /// How long a call may be held whose client named no limit; where it is not there, by what its library waits.
    pub auto_hold: Option<Span>,
}

/// The Discord edge.
#[derive(Clone, Debug)]
pub struct Discord {
    /// Where its API is.
    pub api: Uri,
    /// The policy in force when the program starts.
    pub policy: Arc<Policy>,
    /// How long a call may be held whose client named no limit; where it is not there, by what its library waits.
    pub auto_hold: Option<Span>,
}
