//! Values as people write them, checked by their key's kind.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::Span;
use tidegate_core::policy::{Value as Cell, parse_span};
use toml::Value;

use super::keys::Kind;

/// Whether a value is what its key wants; the reason where it is not.
pub(crate) fn check(kind: Kind, value: &Value) -> Result<(), String> {
    match kind {
        Kind::Text => text(value).map(drop),
        Kind::Secret => secret(value).map(drop),
        Kind::Level => level(value).map(drop),
        Kind::Url => url(text(value)?).map(drop),
        Kind::Address => address(text(value)?).map(drop),
        Kind::Span => span(value).map(drop),
        Kind::Bytes => bytes(value).map(drop),
        Kind::Count(least, most) => match value.as_integer().and_then(|number| u64::try_from(number).ok()) {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => Err(format!("{value} is no whole number from {least} to {most}")),
        },
        Kind::Flag => value.as_bool().map(drop).ok_or_else(|| format!("{value} is neither true nor false")),
        Kind::Scale => scale(value).map(drop),
        Kind::Spans => spans(value).map(drop),
        Kind::Shares => shares_ppm(value).map(drop),
        Kind::OneOf(words) => match text(value)? {
            word if words.contains(&word) => Ok(()),
            other => Err(format!("\"{other}\" is none of {}", words.join(", "))),
        },
        Kind::Texts => match value.as_array() {
            Some(list) if list.iter().all(Value::is_str) => Ok(()),
            _ => Err(format!("{value} is no list of texts; write it like [\"one\", \"two\"]")),
        },
    }
}

/// A value from an environment variable or flag, which have no types of their own.
pub(crate) fn from_text(kind: Option<Kind>, written: &str) -> Value {
    let as_text = || Value::String(written.to_owned());
    match kind {
        Some(Kind::Count(..)) => written.trim().parse().map_or_else(|_| as_text(), Value::Integer),
        Some(Kind::Scale) => written.trim().parse().map_or_else(|_| as_text(), Value::Float),
        Some(Kind::Flag) => written.trim().parse().map_or_else(|_| as_text(), Value::Boolean),
        Some(Kind::Texts | Kind::Spans | Kind::Shares) if written.trim_start().starts_with('[') => {
            in_toml(written).unwrap_or_else(as_text)
        }
        Some(Kind::Texts) => {
            let words = written.split(',').map(str::trim).filter(|word| !word.is_empty());
            Value::Array(words.map(|word| Value::String(word.to_owned())).collect())
        }
        Some(Kind::Spans) => {
            Value::Array(written.split(',').map(|word| Value::String(word.trim().to_owned())).collect())
        }
        Some(Kind::Shares) => {
            let number = |word: &str| word.trim().parse().map_or_else(|_| Value::String(word.to_owned()), Value::Float);
            Value::Array(written.split(',').map(number).collect())
        }
        Some(_) => as_text(),
        // A cell of a policy: a number, a word in TOML's own writing, or just text.
        None => in_toml(written).unwrap_or_else(as_text),
    }
}

/// A value in TOML's own writing.
fn in_toml(written: &str) -> Option<Value> {
    format!("v = {written}").parse::<toml::Table>().ok()?.remove("v")
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is no text; put it in quotes"))
}

pub(crate) fn level(value: &Value) -> Result<tracing::level_filters::LevelFilter, String> {
    let known = "off, error, warn, info, debug, trace";
    text(value)?.parse().map_err(|_| format!("{value} is none of {known}"))
}

pub(crate) fn url(text: &str) -> Result<hyper::Uri, String> {
    let wrong = || format!("\"{text}\" is no address; write it like \"https://host\" or \"http://host:port\"");
    let uri: hyper::Uri = text.parse().map_err(|_| wrong())?;
    let plain = uri.query().is_none() && !uri.authority().is_some_and(|host| host.as_str().contains('@'));
    match uri.scheme_str() {
        Some("http" | "https") if uri.authority().is_some() && plain => Ok(uri),
        _ => Err(wrong()),
    }
}

/// Where a platform's API is. Bots' paths go behind it as they are, and each of them begins with one of these words.
pub(crate) fn api(text: &str, words: &[&str]) -> Result<hyper::Uri, String> {
    let uri = url(text)?;
    let path = uri.path().trim_end_matches('/');
    let mut parts = path.rsplit('/').peekable();
    // A version stands behind Discord's word.
    let version =
        |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let _version = parts.next_if(version);
    if let Some(word) = parts.next().filter(|part| words.contains(part)) {
        let fix = text.rsplit_once(&format!("/{word}")).map_or("", |(before, _)| before);
        return Err(format!("write \"{fix}\": the paths of bots bring /{word} themselves"));
    }
    Ok(uri)
}

/// A text that is never shown, and so must not be an empty one by accident.
pub(crate) fn secret(value: &Value) -> Result<String, String> {
    match text(value) {
        Ok("") => Err("is empty; give it a text, or leave it out".to_owned()),
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err("is no text; put it in quotes".to_owned()),
    }
}

/// A folder, or a place where one can be made.
pub(crate) fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.ancestors().find(|part| part.exists()) {
        _ if text.is_empty() => Err("is empty; name a folder, or leave it out".to_owned()),
        Some(part) if !part.is_dir() => Err(format!("\"{}\" is no folder", part.display())),
        _ => Ok(path),
    }
}

/// Without path, query and trailing slash: some libraries put theirs behind it as it is.
pub(crate) fn gateway_url(text: &str) -> Result<String, String> {
    let wrong = || format!("\"{text}\" is no Gateway address; write it like \"ws://host:port\" or \"wss://host\"");
    let uri: hyper::Uri = text.parse().map_err(|_| wrong())?;
    let plain = uri.query().is_none() && matches!(uri.path(), "" | "/");
    match (uri.scheme_str(), uri.authority()) {
        (Some(scheme @ ("ws" | "wss")), Some(host)) if plain && !host.as_str().contains('@') => {
            Ok(format!("{scheme}://{host}"))
        }
        _ => Err(wrong()),
    }
}

pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("\"{text}\" is no address to listen on; write it like \"127.0.0.1:8787\"");
    let text = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    text.parse().map_err(|_| wrong())
}

pub(crate) fn span(value: &Value) -> Result<Duration, String> {
    parse_span(text(value)?).map(Duration::from)
}

/// The shortest and the longest.
pub(crate) fn spans(value: &Value) -> Result<(Span, Span), String> {
    let wrong = || format!("{value} is no range of time; write it like [\"1s\", \"5s\"], the shorter first");
    let [least, most] = value.as_array().map(Vec::as_slice).unwrap_or_default() else { return Err(wrong()) };
    let (least, most) = (span(least)?, span(most)?);
    if least > most { Err(wrong()) } else { Ok((least.into(), most.into())) }
}

/// The least and the most of a whole, in millionths.
pub(crate) fn shares_ppm(value: &Value) -> Result<(u32, u32), String> {
    let wrong = || format!("{value} is no range of parts; write it like [0.5, 1.0], the smaller first, each 0 to 1");
    let [least, most] = value.as_array().map(Vec::as_slice).unwrap_or_default() else { return Err(wrong()) };
    let number = |v: &Value| v.as_float().or_else(|| v.as_integer().map(|whole| if whole == 0 { 0.0 } else { 1.0 }));
    let (Some(least), Some(most)) = (number(least), number(most)) else { return Err(wrong()) };
    if !(0.0..=1.0).contains(&least) || !(0.0..=1.0).contains(&most) || least > most {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
    let ppm = |share: f64| (share * 1_000_000.0).round() as u32;
    Ok((ppm(least), ppm(most)))
}

/// A whole number that fits in 32 bits.
pub(crate) fn small(value: &Value) -> Result<u32, String> {
    let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("{value} is no whole number"))
}

pub(crate) fn bytes(value: &Value) -> Result<usize, String> {
    let wrong = || format!("{value} is no size; write it like 65536, \"64KiB\" or \"1MiB\"");
    if let Some(number) = value.as_integer() {
        return usize::try_from(number).map_err(|_| wrong());
    }
    let text = value.as_str().ok_or_else(wrong)?.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    number.trim().parse::<usize>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)
}

pub(crate) fn scale(value: &Value) -> Result<f64, String> {
    #[expect(clippy::cast_precision_loss, reason = "scales are small")]
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    number
        .filter(|scale| (0.001..=1000.0).contains(scale))
        .ok_or_else(|| format!("{value} is no number from 0.001 to 1000"))
}

/// A policy's cell, as the core takes it. A date is the text that it was written as: no cell is one.
pub(super) fn cell(value: &Value) -> Cell {
    match value {
        Value::String(text) => Cell::Text(text.clone()),
        Value::Integer(number) => Cell::Integer(*number),
        Value::Float(number) => Cell::Float(*number),
        Value::Boolean(on) => Cell::Bool(*on),
        Value::Datetime(date) => Cell::Text(date.to_string()),
        Value::Array(values) => Cell::List(values.iter().map(cell).collect()),
        Value::Table(cells) => Cell::Table(cells.iter().map(|(key, value)| (key.clone(), cell(value))).collect()),
    }
}
