//! Forced answers: a test says which call is to fail, and how.

use std::time::Duration;

use serde_json::Value;

use crate::scripts::{self, Reader, kind};

/// What happens to a call that a script matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forced {
    /// A 429 that begins a real ban of that many seconds of platform time: coming back early is punished.
    TooMany {
        /// Seconds, at least 1.
        retry_after_s: u64,
    },
    /// This status, with a text of one's own or the usual one.
    Status {
        /// HTTP status, 100 to 599.
        status: u16,
        /// Description in Telegram's shape, if not the usual one.
        description: Option<String>,
    },
    /// A gateway's HTML page with this status, as 502 comes in life.
    Page {
        /// HTTP status.
        status: u16,
    },
    /// The connection is closed after the request was read; the call has no effect.
    DropBeforeAnswer,
    /// The call has its effect, then the connection is closed without an answer.
    LoseAnswer,
    /// The usual answer, this much later (platform time).
    Hang(Duration),
    /// The group becomes this supergroup, for good.
    Migrate {
        /// The new chat id.
        to: i64,
    },
    /// The 400 of an edit that changes nothing.
    NotModified,
}

/// A rule that forces the answers of some calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Method in any case; any if absent.
    pub method: Option<String>,
    /// Numeric chat id, `@name` or `inline:…`; any if absent.
    pub chat: Option<String>,
    /// Bot id; any if absent.
    pub bot: Option<u64>,
    /// Calls to let through first.
    pub skip: u64,
    /// Calls to force after that.
    pub times: u64,
    /// What happens to them.
    pub forced: Forced,
}

impl Script {
    /// Forces the next answer of any call.
    pub fn next(forced: Forced) -> Self {
        Self { method: None, chat: None, bot: None, skip: 0, times: 1, forced }
    }

    /// Reads one from JSON; the error says what was expected.
    ///
    /// `{"method":"sendMessage","chat":"-5","bot":"7","skip":0,"times":1,"answer":…}` where `answer` is a kind (`"502"`,
    /// `"drop_before_answer"`, …), `{"kind":…}` or `{"status":…}`, with `retry_after`, `hang_ms`, `to` or
    /// `description` beside it.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let reader = Reader::new(value, &["method", "chat", "bot", "skip", "times", "answer"])?;
        Ok(Self {
            method: reader.text("method")?,
            chat: reader.text("chat")?.map(|chat| resolve(&chat)),
            bot: reader.id("bot")?,
            skip: reader.number("skip", 0)?,
            times: reader.number("times", 1)?,
            forced: forced(reader.answer()?)?,
        })
    }

    pub(crate) fn matches(&self, bot: u64, method: &str, chat: Option<&str>) -> bool {
        self.bot.is_none_or(|wanted| wanted == bot)
            && self.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.chat.as_ref().is_none_or(|wanted| chat == Some(wanted))
    }
}

fn resolve(chat: &str) -> String {
    if chat.starts_with('@') { super::chat::channel_id(chat).to_string() } else { chat.to_owned() }
}

fn forced(answer: &Value) -> Result<Forced, String> {
    const KINDS: &str = "429, 500, 502, 401, 409 or another status, drop_before_answer, lose_answer, hang_ms, migrate, \
        not_modified";
    let wrong = || format!("the kind of an answer is one of: {KINDS}");
    let number = |key: &str| answer.get(key).and_then(Value::as_u64);
    let kind = kind(answer, &["hang_ms", "drop_before_answer"]).ok_or_else(wrong)?;
    let description = answer.get("description").and_then(Value::as_str).map(str::to_owned);
    Ok(match kind.as_str() {
        "429" => Forced::TooMany { retry_after_s: number("retry_after").unwrap_or(1).max(1) },
        "502" | "504" if description.is_none() => Forced::Page { status: if kind == "502" { 502 } else { 504 } },
        "drop_before_answer" => Forced::DropBeforeAnswer,
        "lose_answer" => Forced::LoseAnswer,
        "hang_ms" | "hang" => {
            let wanted = number("hang_ms").or_else(|| number("ms")).ok_or("\"hang_ms\" is how long, in ms")?;
            Forced::Hang(Duration::from_millis(wanted))
        }
        "migrate" => {
            let to = answer.get("to").ok_or("\"to\" is the new chat id")?;
            let to = to.as_i64().or_else(|| to.as_str()?.parse().ok()).filter(|id| *id != 0);
            Forced::Migrate { to: to.ok_or("\"to\" is a numeric chat id")? }
        }
        "not_modified" => Forced::NotModified,
        other => match other.parse() {
            Ok(status @ 200..=599) => Forced::Status { status, description },
            _ => return Err(wrong()),
        },
    })
}

impl scripts::Script for Script {
    type Forced = Forced;

    fn turns(&mut self) -> (&mut u64, &mut u64) {
        (&mut self.skip, &mut self.times)
    }

    fn forced(&self) -> Forced {
        self.forced.clone()
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
