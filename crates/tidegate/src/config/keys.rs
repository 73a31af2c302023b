//! Every key of the configuration: its kind, its default and what it means.

mod gateway;

/// What a key's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text that is never shown.
    Secret,
    /// `http://…` or `https://…`.
    Url,
    /// `host:port`.
    Address,
    /// A length of time: `"5s"`.
    Span,
    /// A size: `"64KiB"`.
    Bytes,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    Level,
    /// `true` or `false`.
    Flag,
    /// A number over 0.
    Scale,
    /// A list of texts.
    Texts,
    /// The shortest and the longest length of time: `["1s", "5s"]`.
    Spans,
    /// The least and the most of a whole: `[0.5, 1.0]`.
    Shares,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// As it would be written in a file; empty where the key is absent by default.
    pub(crate) default: &'static str,
    /// What it does, as `docs/reference.md` says it.
    pub(crate) meaning: &'static str,
}

const fn key(path: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
    Key { path, kind, default, meaning }
}

const GENERAL: &[Key] = &[
    key("listen", Kind::Address, "\"127.0.0.1:8787\"", "Where bots connect to."),
    key("admin", Kind::Address, "\"127.0.0.1:8788\"", "Where operators connect to: page, metrics, status."),
    key(
        "admin_token",
        Kind::Secret,
        "",
        "What the admin port asks for as `Authorization: Bearer`, or as the password of any user. Needed off loopback.",
    ),
    key("admin_hosts", Kind::Texts, "[]", "Names besides loopback that the admin port answers to in `Host`."),
    key("insecure", Kind::Flag, "false", "Allows listening for bots on an address that others reach, without TLS."),
    key("data", Kind::Text, "\"./tidegate-data\"", "The folder for what outlives the process. Nothing is kept yet."),
    key(
        "time_scale",
        Kind::Scale,
        "1.0",
        "Real seconds of one platform second: shrinks every period, for tests against `tidegate sandbox --scale`.",
    ),
    key(
        "bots",
        Kind::Texts,
        "",
        "The only bots served, by application id (Discord) or the number before the colon (Telegram); absent: any.",
    ),
    key(
        "public_url",
        Kind::Text,
        "",
        "The Gateway address that `/gateway/bot` and READY hand out, `ws://…` or `wss://…`; absent: the request's `Host`.",
    ),
    key("log", Kind::Level, "\"info\"", "How much is logged to standard error. SIGHUP reads it anew."),
    key("threads", Kind::Count(0, 1024), "0", "Threads that serve bots; 0: one per core."),
    key(
        "drain_timeout",
        Kind::Span,
        "\"10s\"",
        "How long calls may still be finished when the process is told to stop; then all are answered without the platform.",
    ),
    key("buffer_total", Kind::Bytes, "\"64MiB\"", "Bodies held in memory, all together."),
    key("bots_max", Kind::Count(1, 1_000_000), "1024", "Tokens whose state is kept at once."),
    key("bots_idle", Kind::Span, "\"1h\"", "State of a token that is unused for so long and at rest goes."),
    key("connections_max", Kind::Count(1, 1_000_000), "4096", "Connections of bots at once."),
    key(
        "held_per_client",
        Kind::Count(1, 8192),
        "64",
        "Held calls of one bot from one address that did not name their own hold.",
    ),
    key("header_block", Kind::Bytes, "\"32KiB\"", "The largest header block of a request."),
    key("target_max", Kind::Bytes, "\"64KiB\"", "The longest request target."),
    key(
        "decision_timeout",
        Kind::Span,
        "\"30s\"",
        "From a request's head to the part of its body that the decision needs.",
    ),
    key("idle_timeout", Kind::Span, "\"75s\"", "How long an idle connection is kept."),
    key(
        "body_max",
        Kind::Bytes,
        "\"64KiB\"",
        "A body up to this is read before the decision, so that it can be merged and tried again.",
    ),
    key("multipart_max", Kind::Bytes, "\"1MiB\"", "How far `chat_id` is looked for in a multipart body."),
    key(
        "unproven_failures",
        Kind::Count(1, 1000),
        "30",
        "How often a minute tokens that never worked may fail, all together.",
    ),
    key("breaker", Kind::Span, "\"60s\"", "How long a token that the platform no longer takes is not tried."),
    key("connect_timeout", Kind::Span, "\"5s\"", "How long connecting to a platform may take."),
    key("telegram.api", Kind::Url, "\"https://api.telegram.org\"", "The Bot API server before which tidegate stands."),
    key("telegram.policy", Kind::Text, "\"telegram\"", "The policy of its bots."),
    key(
        "telegram.auto_hold",
        Kind::Span,
        "",
        "What `max_hold = \"auto\"` is for this platform; absent: by the client's library, less what the platform needs.",
    ),
    key("discord.api", Kind::Url, "\"https://discord.com\"", "Discord's REST API."),
    key("discord.policy", Kind::Text, "\"discord\"", "The policy of its bots."),
    key("discord.auto_hold", Kind::Span, "", "As `telegram.auto_hold`."),
    key(
        "discord.max_global",
        Kind::Count(1, 10_000),
        "",
        "Requests a second of one bot over all routes, for bots that Discord allows more than its 50.",
    ),
    key(
        "record.dir",
        Kind::Text,
        "",
        "A folder for traces of each bot's Gateway gates, without payloads and tokens, for `tidegate replay bot`; 256 MiB a bot.",
    ),
    key("store.url", Kind::Secret, "", "A shared store. There is none yet: naming one is an error."),
];

/// All of them, in the order in which `tidegate check` prints them.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    GENERAL.iter().chain(gateway::KEYS)
}

/// The key at a path.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}
