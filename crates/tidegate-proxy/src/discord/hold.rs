//! What Discord's libraries wait for an answer by default.

use tidegate_core::Span;

use crate::pipeline::hold::UNKNOWN;

/// By `User-Agent`: twilight 10 s; JDA 10 s between bytes; discord.js 15 s to the headers; eris 15 s without a byte;
/// `node` (oceanic.js) 15 s; hikari 30 s; discord.py, disnake and nextcord 300 s; serenity has no limit.
pub(crate) fn timeout(user_agent: Option<&str>) -> Span {
    const NAMED: [(&str, u64); 9] = [
        ("twilight.rs/", 10),
        ("github.com/discord-jda/JDA", 10),
        ("discord.js.org", 15),
        ("github.com/abalabahaha/eris", 15),
        ("github.com/hikari-py/hikari", 30),
        ("github.com/Rapptz/discord.py", 300),
        ("github.com/DisnakeDev/disnake", 300),
        ("github.com/nextcord/nextcord", 300),
        // Four fifths of it are as long as any call may be held.
        ("github.com/serenity-rs/serenity", 750),
    ];
    let agent = user_agent.map_or("", str::trim);
    if agent == "node" {
        return Span::from_secs(15);
    }
    let address = agent.strip_prefix("DiscordBot (https://").unwrap_or_default();
    NAMED.iter().find(|(known, _)| address.starts_with(known)).map_or(UNKNOWN, |(_, secs)| Span::from_secs(*secs))
}
