//! What Telegram's libraries wait for an answer by default.

use tidegate_core::Span;

use crate::pipeline::hold::UNKNOWN;

/// By `User-Agent`: python-telegram-bot 5 s between bytes; none: teloxide 17 s; `python-requests` (pyTelegramBotAPI) 30 s;
/// aiogram 60 s; aiohttp alone (pyTelegramBotAPI async) and `node` (node-telegram-bot-api 2) 300 s; `node-fetch`
/// (grammY, telegraf) 500 s.
pub(crate) fn timeout(user_agent: Option<&str>) -> Span {
    let Some(agent) = user_agent.map(str::trim).filter(|agent| !agent.is_empty()) else { return Span::from_secs(17) };
    let secs = match agent {
        _ if agent.starts_with("python-telegram-bot") => 5,
        _ if agent.starts_with("python-requests/") => 30,
        _ if agent.contains("aiogram/") => 60,
        _ if agent.starts_with("Python/") && agent.contains("aiohttp/") => 300,
        "node" => 300,
        _ if agent.starts_with("node-fetch/1.0") => 500,
        _ => return UNKNOWN,
    };
    Span::from_secs(secs)
}
