//! The few arguments of a call that a decision needs, wherever they stand. The first of two wins, and the query before the
//! body, as in Telegram's own server.

mod form;
mod json;
mod multipart;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use tidegate_core::{MessageKey, Peer};

pub(crate) use self::multipart::Multipart;

/// Longer ones are no chat's.
const LONGEST_NAME: usize = 128;

/// All that [`Args::set`] takes.
const NAMES: [&str; 9] = [
    "chat_id",
    "inline_message_id",
    "message_id",
    "draft_id",
    "message_thread_id",
    "media",
    "message_ids",
    "rich_message",
    "allow_paid_broadcast",
];

/// What a decision needs to know of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) chat: Option<Peer>,
    pub(crate) inline: Option<Peer>,
    pub(crate) message: Option<MessageKey>,
    pub(crate) draft: Option<MessageKey>,
    pub(crate) thread: Option<i64>,
    /// How many media an album has.
    pub(crate) media: Option<u32>,
    /// How many messages are copied or forwarded.
    pub(crate) messages: Option<u32>,
    pub(crate) rich: bool,
    /// What it says of being charged as a paid broadcast.
    pub(crate) paid: Option<bool>,
}

impl Args {
    /// Takes one argument in.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name {
            "chat_id" if self.chat.is_none() => self.chat = peer(value),
            "inline_message_id" if self.inline.is_none() && !value.is_empty() && value.len() <= LONGEST_NAME => {
                self.inline = Some(Peer::Inline(value.into()));
            }
            "message_id" if self.message.is_none() && !value.is_empty() => self.message = Some(MessageKey::of(value)),
            "draft_id" if self.draft.is_none() && !value.is_empty() => self.draft = Some(MessageKey::of(value)),
            "message_thread_id" if self.thread.is_none() => self.thread = value.parse().ok(),
            "media" if self.media.is_none() => self.media = json::length(value.as_bytes()),
            "message_ids" if self.messages.is_none() => self.messages = json::length(value.as_bytes()),
            "allow_paid_broadcast" if self.paid.is_none() => self.paid = Some(is_true(value)),
            "rich_message" => self.rich |= !value.is_empty() && value != "null",
            _ => {}
        }
    }

    /// The peer that the platform counts the call by.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.chat.as_ref().or(self.inline.as_ref())
    }
}

/// As Telegram's own server reads a Boolean.
fn is_true(value: &str) -> bool {
    ["true", "yes", "1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn peer(value: &str) -> Option<Peer> {
    let named = !value.is_empty() && value.len() <= LONGEST_NAME && !value.starts_with("inline:") && value != "null";
    named.then(|| Peer::parse(value))
}

/// How a body is written, by its `Content-Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Form,
    Json,
    /// With its boundary.
    Multipart(Vec<u8>),
    /// Not looked into.
    Opaque,
}

impl Format {
    pub(crate) fn of(content_type: Option<&str>, encoded: bool) -> Self {
        let Some(written) = content_type.filter(|_| !encoded) else { return Self::Opaque };
        if written == "application/json" {
            return Self::Json;
        }
        let lower = written.to_ascii_lowercase();
        if lower.contains("multipart/form-data") {
            multipart::boundary(written).map_or(Self::Opaque, Self::Multipart)
        } else if lower.contains("application/x-www-form-urlencoded") {
            Self::Form
        } else if lower.contains("application/json") {
            Self::Json
        } else {
            Self::Opaque
        }
    }
}

/// Takes the arguments of a query in.
pub(crate) fn from_query(args: &mut Args, query: &str) {
    form::pairs(query.as_bytes(), |name, value| args.set(name, value));
}

/// Takes the arguments of a body in, or of its first part.
pub(crate) fn from_body(args: &mut Args, format: &Format, body: &[u8]) {
    match format {
        Format::Form => form::pairs(body, |name, value| args.set(name, value)),
        Format::Json => json::members(body, |name, value| {
            // A long text is not looked into.
            if NAMES.contains(&name) {
                args.set(name, &json::text(value));
            }
        }),
        Format::Multipart(boundary) => Multipart::new(boundary).read(body, |name, value| args.set(name, value)),
        Format::Opaque => {}
    }
}

/// One argument of a call, read again.
pub(crate) fn find(wanted: &str, query: &str, format: &Format, body: &[u8]) -> Option<String> {
    let mut found = None;
    let mut look = |name: &str, value: Cow<'_, str>| {
        if name == wanted && found.is_none() {
            found = Some(value.into_owned());
        }
    };
    form::pairs(query.as_bytes(), |name, value| look(name, value.into()));
    match format {
        Format::Form => form::pairs(body, |name, value| look(name, value.into())),
        Format::Json => json::members(body, |name, value| look(name, json::text(value))),
        Format::Multipart(boundary) => Multipart::new(boundary).read(body, |name, value| look(name, value.into())),
        Format::Opaque => {}
    }
    found
}
