//! Weather as tests write it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::weather::{Act, Moment, Weather};
use crate::scripts::Reader;

const ACTS: &str = r#""reconnect", "invalid", "cut", "freeze", "silence", "deaf", "beat", "dead_resume_url",
 {"invalid":true}, {"close":4000,"twice":true}, {"refuse":503,"body":"…"}, {"delay_ms":1000}"#;
const MOMENTS: &str = r#""connect", "identify", "resume", "ready", "resumed", "live", "frame" with "op""#;

impl Weather {
    /// Reads one from JSON; the error says what was expected.
    ///
    /// `{"bot":"7","shard":0,"path":"/resume","on":"identify","op":8,"after_ms":0,"skip":0,"times":1,"do":…}`
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let known = ["bot", "shard", "path", "on", "op", "after_ms", "skip", "times", "do"];
        let reader = Reader::new(value, &known)?;
        let on = match reader.text("on")?.as_deref() {
            Some("connect") => Moment::Connect,
            Some("identify") => Moment::Identify,
            Some("resume") => Moment::Resume,
            Some("ready") => Moment::Ready,
            Some("resumed") => Moment::Resumed,
            Some("live") => Moment::Live,
            Some("frame") => Moment::Frame(u8::try_from(reader.number("op", 256)?).map_err(|_| "\"op\" is an opcode")?),
            _ => return Err(format!("\"on\" is one of: {MOMENTS}")),
        };
        let shard = reader.id("shard")?.map(u32::try_from).transpose().map_err(|_| "\"shard\" is a number")?;
        let act = Act::from_json(value.get("do").unwrap_or(&Value::Null))?;
        let after = Duration::from_millis(reader.number("after_ms", 0)?);
        let fits = match act {
            Act::Refuse { .. } => on == Moment::Connect && after.is_zero(),
            Act::Delay(_) => matches!(on, Moment::Connect | Moment::Identify | Moment::Resume) && after.is_zero(),
            Act::DeadResumeUrl => on == Moment::Identify && after.is_zero(),
            _ => true,
        };
        if !fits {
            return Err("that cannot happen at that moment".into());
        }
        let (bot, path) = (reader.id("bot")?, reader.text("path")?);
        if on == Moment::Connect && (bot.is_some() || shard.is_some()) {
            return Err("of a connection that is only asked for, neither \"bot\" nor \"shard\" is known".into());
        }
        if on != Moment::Connect && path.is_some() {
            return Err("\"path\" is for \"connect\" alone".into());
        }
        Ok(Self {
            bot,
            shard,
            path,
            on,
            after,
            skip: reader.number("skip", 0)?,
            times: reader.number("times", 1)?,
            act,
        })
    }
}

impl Act {
    /// Reads one from JSON; the error says what was expected.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let wrong = || format!("what happens is one of: {ACTS}");
        match value {
            Value::String(name) => Ok(match name.as_str() {
                "reconnect" => Self::Reconnect,
                "invalid" => Self::Invalid { resumable: false },
                "cut" => Self::Cut,
                "freeze" => Self::Freeze,
                "silence" => Self::Silence,
                "deaf" => Self::Deaf,
                "beat" => Self::Beat,
                "dead_resume_url" => Self::DeadResumeUrl,
                _ => return Err(wrong()),
            }),
            Value::Object(fields) => Self::from_fields(fields).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn from_fields(fields: &Map<String, Value>) -> Option<Self> {
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let known = |names: &[&str]| fields.keys().all(|key| names.contains(&key.as_str()));
        if let Some(resumable) = fields.get("invalid").and_then(Value::as_bool) {
            return known(&["invalid"]).then_some(Self::Invalid { resumable });
        }
        if let Some(code) = number("close") {
            let code =
                u16::try_from(code).ok().filter(|code| matches!(code, 1000..=1003 | 1005..=1014 | 3000..=4999))?;
            let twice = fields.get("twice").and_then(Value::as_bool).unwrap_or(false);
            return known(&["close", "twice"]).then_some(Self::Close { code, twice });
        }
        if let Some(status) = number("refuse") {
            let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status))?;
            let body = fields.get("body").and_then(Value::as_str).unwrap_or("no healthy upstream").to_owned();
            return known(&["refuse", "body"]).then_some(Self::Refuse { status, body });
        }
        let delay = number("delay_ms").map(|delay_ms| Self::Delay(Duration::from_millis(delay_ms)));
        delay.filter(|_| known(&["delay_ms"]))
    }
}
