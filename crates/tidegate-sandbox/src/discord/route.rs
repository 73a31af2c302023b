//! From a path to the route that the limits know.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use percent_encoding::percent_decode_str;

/// What a call does, as far as limits and answers care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Me,
    Application,
    Gateway,
    GatewayBot,
    OpenDm,
    ReadChannel,
    PatchChannel,
    Send,
    ListMessages,
    ReadMessage,
    EditMessage,
    DeleteMessage,
    BulkDelete,
    React,
    Pin,
    Pins,
    Typing,
    CreateWebhook,
    Member,
    Members,
    CreateEmoji,
    Invite,
    ReadWebhook,
    DeleteWebhook,
    ExecuteWebhook,
    ReadHookMessage,
    EditHookMessage,
    DeleteHookMessage,
    Callback,
    /// Any other route: `read` is a GET.
    Other {
        read: bool,
    },
}

/// The resource at the top of a path: buckets are counted by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Major {
    #[default]
    None,
    Channel(u64),
    Guild(u64),
    Webhook(u64),
    /// A webhook with its token, which is kept as a hash only.
    Token(u64, u64),
    Interaction(u64, u64),
}

impl Major {
    pub(crate) fn id(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Channel(id) | Self::Guild(id) | Self::Webhook(id) | Self::Token(id, _) | Self::Interaction(id, _) => {
                Some(id)
            }
        }
    }
}

impl fmt::Display for Major {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Channel(id) => write!(f, "channel:{id}"),
            Self::Guild(id) => write!(f, "guild:{id}"),
            Self::Webhook(id) => write!(f, "webhook:{id}"),
            Self::Token(id, hash) => write!(f, "webhook:{id}:{hash:016x}"),
            Self::Interaction(id, hash) => write!(f, "interaction:{id}:{hash:016x}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Method and template, `POST /channels/{id}/messages`: nothing in it tells a resource or a token.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) major: Major,
    /// The message it is about.
    pub(crate) message: Option<u64>,
    /// It is about the message that answered an interaction.
    pub(crate) original: bool,
    /// Its token is an interaction's.
    pub(crate) followup: bool,
}

/// How the tokens of interactions begin: `interaction:` in base64.
const INTERACTION: &str = "aW50ZXJhY3Rpb246";

/// A segment of a template that may come as it is: no token looks like this.
fn is_word(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"@_-".contains(&byte);
    (1..=24).contains(&segment.len()) && segment.bytes().all(plain)
}

/// Ids are numbers of any length; one too long for a number is told apart by its hash.
fn id(segment: &str) -> Option<u64> {
    if segment.is_empty() || !segment.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(segment.parse().unwrap_or_else(|_| hash(segment)))
}

pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn template(verb: &str, segments: &[&str]) -> String {
    let verb = if verb.len() <= 8 && verb.bytes().all(|byte| byte.is_ascii_uppercase()) { verb } else { "OTHER" };
    let mut name = format!("{verb} ");
    for (index, segment) in segments.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|at| segments.get(at)).copied();
        name.push('/');
        name.push_str(match (before(2), before(1)) {
            (Some("webhooks" | "interactions"), _) if index == 2 => "{token}",
            (_, Some("reactions")) => "{emoji}",
            (None, Some("invites")) => "{code}",
            _ if id(segment).is_some() => "{id}",
            _ if is_word(segment) => segment,
            _ => "{other}",
        });
        if name.len() > 160 {
            break;
        }
    }
    name
}

impl Route {
    pub(crate) fn of(verb: &str, path: &str) -> Self {
        // Some libraries write `%40me`.
        let decoded: Vec<String> = path
            .trim_matches('/')
            .split('/')
            .take(16)
            .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
            .collect();
        let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
        let read = matches!(verb, "GET" | "HEAD");
        let kind = kind(verb, &segments).unwrap_or(Kind::Other { read });
        let message = match segments.iter().position(|segment| matches!(*segment, "messages" | "pins")) {
            Some(at) if segments.get(at + 1) == Some(&"pins") => segments.get(at + 2),
            Some(at) => segments.get(at + 1),
            None => None,
        };
        Self {
            name: template(verb, &segments),
            kind,
            major: major(&segments),
            message: message.and_then(|segment| id(segment)),
            original: message == Some(&"@original"),
            followup: segments.get(2).is_some_and(|token| token.starts_with(INTERACTION)),
        }
    }

    /// The path itself says who may call it.
    pub(crate) fn has_own_token(&self) -> bool {
        matches!(self.major, Major::Token(..) | Major::Interaction(..))
    }

    pub(crate) fn channel(&self) -> Option<u64> {
        if let Major::Channel(id) = self.major { Some(id) } else { None }
    }
}

fn major(segments: &[&str]) -> Major {
    let (Some(top), Some(of)) = (segments.first(), segments.get(1).and_then(|segment| id(segment))) else {
        return Major::None;
    };
    match (*top, segments.get(2)) {
        ("channels", _) => Major::Channel(of),
        ("guilds", _) => Major::Guild(of),
        ("webhooks", None) => Major::Webhook(of),
        ("webhooks", Some(token)) => Major::Token(of, hash(token)),
        ("interactions", Some(token)) => Major::Interaction(of, hash(token)),
        _ => Major::None,
    }
}

fn kind(verb: &str, segments: &[&str]) -> Option<Kind> {
    Some(match (verb, segments) {
        ("GET", ["users", "@me"]) => Kind::Me,
        ("GET", ["applications", "@me"] | ["oauth2", "applications", "@me"]) => Kind::Application,
        ("GET", ["gateway"]) => Kind::Gateway,
        ("GET", ["gateway", "bot"]) => Kind::GatewayBot,
        ("POST", ["users", "@me", "channels"]) => Kind::OpenDm,
        ("POST", ["interactions", of, _, "callback"]) if id(of).is_some() => Kind::Callback,
        (_, ["invites", _]) => Kind::Invite,
        (_, ["channels", of, rest @ ..]) if id(of).is_some() => return in_channel(verb, rest),
        ("GET", ["guilds", of, "members"]) if id(of).is_some() => Kind::Members,
        ("GET" | "PATCH", ["guilds", of, "members", _]) if id(of).is_some() => Kind::Member,
        ("POST", ["guilds", of, "emojis"]) if id(of).is_some() => Kind::CreateEmoji,
        (_, ["webhooks", of, rest @ ..]) if id(of).is_some() => return of_webhook(verb, rest),
        _ => return None,
    })
}

fn in_channel(verb: &str, rest: &[&str]) -> Option<Kind> {
    Some(match (verb, rest) {
        ("GET", []) => Kind::ReadChannel,
        ("PATCH", []) => Kind::PatchChannel,
        ("POST", ["messages"]) => Kind::Send,
        ("GET", ["messages"]) => Kind::ListMessages,
        ("POST", ["messages", "bulk-delete"]) => Kind::BulkDelete,
        ("GET", ["pins"] | ["messages", "pins"]) => Kind::Pins,
        ("PUT" | "DELETE", ["pins", _] | ["messages", "pins", _]) => Kind::Pin,
        ("GET", ["messages", _]) => Kind::ReadMessage,
        ("PATCH", ["messages", _]) => Kind::EditMessage,
        ("DELETE", ["messages", _]) => Kind::DeleteMessage,
        ("PUT" | "DELETE", ["messages", _, "reactions", ..]) => Kind::React,
        ("POST", ["typing"]) => Kind::Typing,
        ("POST", ["webhooks"]) => Kind::CreateWebhook,
        _ => return None,
    })
}

fn of_webhook(verb: &str, rest: &[&str]) -> Option<Kind> {
    Some(match (verb, rest) {
        ("GET", [] | [_]) => Kind::ReadWebhook,
        ("DELETE", [] | [_]) => Kind::DeleteWebhook,
        ("POST", [_] | [_, "slack" | "github"]) => Kind::ExecuteWebhook,
        ("GET", [_, "messages", _]) => Kind::ReadHookMessage,
        ("PATCH", [_, "messages", _]) => Kind::EditHookMessage,
        ("DELETE", [_, "messages", _]) => Kind::DeleteHookMessage,
        _ => return None,
    })
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
