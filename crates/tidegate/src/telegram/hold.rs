//! How long a call may be held: 80 % of what its client library waits for an answer by default.

use tidegate_core::Span;
use tidegate_core::policy::parse_span;

/// The longest that a client may ask for.
const LONGEST: Span = Span::from_secs(600);
/// For libraries that nobody knows.
const UNKNOWN: Span = Span::from_secs(4);

/// By `User-Agent`: python-telegram-bot 5 s between bytes; none: teloxide 17 s; `python-requests` (pyTelegramBotAPI) 30 s;
/// aiogram 60 s; aiohttp alone (pyTelegramBotAPI async) and `node` (node-telegram-bot-api 2) 300 s; `node-fetch`
/// (grammY, telegraf) 500 s.
pub(crate) fn auto(user_agent: Option<&str>) -> Span {
    let Some(agent) = user_agent.map(str::trim).filter(|agent| !agent.is_empty()) else { return share(17) };
    let fails_at = match agent {
        _ if agent.starts_with("python-telegram-bot") => 5,
        _ if agent.starts_with("python-requests/") => 30,
        _ if agent.contains("aiogram/") => 60,
        _ if agent.starts_with("Python/") && agent.contains("aiohttp/") => 300,
        "node" => 300,
        _ if agent.starts_with("node-fetch/1.0") => 500,
        _ => return UNKNOWN,
    };
    share(fails_at)
}

fn share(fails_at: u64) -> Span {
    Span::from_millis(fails_at * 800)
}

/// What `X-Tidegate-Max-Hold` says; `None` where it says nothing that makes sense.
pub(crate) fn named(written: &str) -> Option<Span> {
    parse_span(written).ok().filter(|span| *span <= LONGEST)
}
