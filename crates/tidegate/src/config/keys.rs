//! Every key of the configuration: its kind, its default and what it means.

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
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// As it would be written in a file; empty where the key is absent by default.
    pub(crate) default: &'static str,
}

const fn key(path: &'static str, kind: Kind, default: &'static str) -> Key {
    Key { path, kind, default }
}

/// All of them, in the order in which `tidegate check` prints them.
pub(crate) const KEYS: &[Key] = &[
    // Where bots connect to, and operators.
    key("listen", Kind::Address, "\"127.0.0.1:8787\""),
    key("admin", Kind::Address, "\"127.0.0.1:8788\""),
    key("admin_token", Kind::Secret, ""),
    // Names besides loopback that the admin port answers to in `Host`.
    key("admin_hosts", Kind::Texts, "[]"),
    // Listening for bots on an address that others reach, without TLS.
    key("insecure", Kind::Flag, "false"),
    key("data", Kind::Text, "\"./tidegate-data\""),
    // Shrinks every period, for tests against `tidegate sandbox --scale`.
    key("time_scale", Kind::Scale, "1.0"),
    // The only bots served; absent: any.
    key("bots", Kind::Texts, ""),
    key("public_url", Kind::Text, ""),
    key("log", Kind::Level, "\"info\""),
    // Threads that serve bots; 0: one per core.
    key("threads", Kind::Count(0, 1024), "0"),
    key("drain_timeout", Kind::Span, "\"10s\""),
    // Bounds. Past one the new is refused and the old kept.
    key("buffer_total", Kind::Bytes, "\"64MiB\""),
    key("bots_max", Kind::Count(1, 1_000_000), "1024"),
    key("bots_idle", Kind::Span, "\"1h\""),
    key("connections_max", Kind::Count(1, 1_000_000), "4096"),
    key("held_per_client", Kind::Count(1, 8192), "64"),
    key("header_block", Kind::Bytes, "\"32KiB\""),
    key("target_max", Kind::Bytes, "\"64KiB\""),
    // From a request's head to the part of its body that the decision needs.
    key("decision_timeout", Kind::Span, "\"30s\""),
    key("idle_timeout", Kind::Span, "\"75s\""),
    key("body_max", Kind::Bytes, "\"64KiB\""),
    // How far `chat_id` is looked for in a multipart body.
    key("multipart_max", Kind::Bytes, "\"1MiB\""),
    // Tokens that never worked may fail this often a minute, all together.
    key("unproven_failures", Kind::Count(1, 1000), "30"),
    // How long a token that the platform no longer takes is not tried.
    key("breaker", Kind::Span, "\"60s\""),
    key("connect_timeout", Kind::Span, "\"5s\""),
    key("telegram.api", Kind::Url, "\"https://api.telegram.org\""),
    key("telegram.policy", Kind::Text, "\"telegram\""),
    // What `max_hold = "auto"` is for this platform; absent: by the client's library.
    key("telegram.auto_hold", Kind::Span, ""),
    key("discord.api", Kind::Url, "\"https://discord.com\""),
    key("discord.policy", Kind::Text, "\"discord\""),
    key("discord.auto_hold", Kind::Span, ""),
    // Requests a second of one bot over all routes, for bots that Discord allows more than its 50.
    key("discord.max_global", Kind::Count(1, 10_000), ""),
    key("store.url", Kind::Secret, ""),
];

/// The key at a path.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The known word that is nearest to what was written.
pub(crate) fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.min_by_key(|word| distance(written, word))
}

/// Insertions, deletions and replacements from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
