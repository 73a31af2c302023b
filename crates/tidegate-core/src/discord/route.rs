//! Which route a call is, what the platform counts it by, and which message it writes to. Every path has an answer:
//! routes of tomorrow too.

use alloc::format;
use alloc::string::String;

use crate::key::{MessageKey, MethodKey, Peer};

/// Discord's snowflakes count milliseconds from 2015-01-01 (<https://discord.com/developers/docs/reference#snowflakes>).
const EPOCH_UNIX_MS: u64 = 1_420_070_400_000;

/// One call's route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Verb and path, ids by their kind: `PATCH /channels/{channel}/messages/{message}`. What rows match.
    pub template: String,
    /// The key of the template, and of what else tells apart calls that Discord counts apart.
    pub method: MethodKey,
    /// The major parameter: channel, guild, webhook, or webhook and a hash of its token.
    pub peer: Option<Peer>,
    /// The message that it writes to.
    pub message: Option<MessageKey>,
    /// A token webhook: all calls by its id, whatever the token, share this key.
    pub webhook: Option<MethodKey>,
    /// What sets it apart.
    pub kind: RouteKind,
}

/// What sets a route apart from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// Nothing.
    Plain,
    /// An answer to an interaction: the path carries the token, the bot's budgets do not count it.
    Interaction,
    /// A webhook by its token: the same.
    TokenWebhook,
    /// `GET /gateway` or `GET /gateway/bot`.
    Gateway {
        /// The bot's own answer.
        bot: bool,
    },
}

/// How old a message is that is to be deleted: Discord counts three ages apart
/// (<https://github.com/discord/discord-api-docs/issues/1295>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAge {
    /// Under ten seconds.
    New,
    /// Up to fourteen days.
    Recent,
    /// Beyond.
    Old,
}

impl MessageAge {
    /// By the message's id and the time of day in milliseconds since 1970.
    pub fn of(id: u64, now_unix_ms: u64) -> Self {
        let created = (id >> 22).saturating_add(EPOCH_UNIX_MS);
        match now_unix_ms.saturating_sub(created) {
            0..10_000 => Self::New,
            10_000..=1_209_600_000 => Self::Recent,
            _ => Self::Old,
        }
    }
}

/// What is found on the way along a path.
#[derive(Default)]
struct Walk<'a> {
    template: String,
    /// The first segment and the id behind it.
    head: &'a str,
    head_id: Option<u64>,
    token: Option<&'a str>,
    message: Option<&'a str>,
}

impl Route {
    /// The route of a verb and a path without the version (`/channels/1/messages`; a query is ignored). `hash` stands for
    /// tokens in the path and must not let them be found; `now_unix_ms` ages messages.
    pub fn parse(verb: &str, path: &str, now_unix_ms: u64, hash: impl Fn(&str) -> u64) -> Self {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let walk = walk(verb, path);
        let mut template = walk.template;
        let (mut peer, mut webhook, mut kind) = (None, None, RouteKind::Plain);
        match (walk.head, walk.head_id, walk.token) {
            ("webhooks", Some(id), Some(token)) => {
                peer = Some(Peer::Name(format!("webhooks/{id}/{:016x}", hash(token)).into()));
                webhook = Some(MethodKey::of(&format!("webhooks/{id}")));
                kind = RouteKind::TokenWebhook;
            }
            ("interactions", Some(id), Some(_)) => {
                peer = Some(Peer::Name(format!("interactions/{id}").into()));
                kind = RouteKind::Interaction;
            }
            ("channels" | "guilds" | "webhooks", Some(id), _) => peer = i64::try_from(id).ok().map(Peer::Id),
            ("gateway", None, None) if verb.eq_ignore_ascii_case("GET") => match template.as_str() {
                "GET /gateway" => kind = RouteKind::Gateway { bot: false },
                "GET /gateway/bot" => kind = RouteKind::Gateway { bot: true },
                _ => {}
            },
            _ => {}
        }
        let deletes = template == "DELETE /channels/{channel}/messages/{message}";
        if let Some(id) = walk.message.and_then(|id| id.parse().ok()).filter(|_| deletes) {
            template.push_str(match MessageAge::of(id, now_unix_ms) {
                MessageAge::New => " new",
                MessageAge::Recent => " recent",
                MessageAge::Old => " old",
            });
        }
        if template.contains("/reactions") && matches!(verb, "PUT" | "DELETE") {
            // One bucket for all that changes reactions in a channel.
            template = String::from("REACT /channels/{channel}/messages/{message}/reactions");
        }
        let method = MethodKey::of(&template);
        Self { template, method, peer, message: walk.message.map(MessageKey::of), webhook, kind }
    }

    /// The same route where the body renames a channel or sets its topic: Discord counts those apart, whatever its
    /// headers say (<https://github.com/discord/discord-api-docs/issues/1900>).
    #[must_use]
    pub fn with_fields<'a>(mut self, mut names: impl Iterator<Item = &'a str>) -> Self {
        if self.template == "PATCH /channels/{channel}" && names.any(|name| matches!(name, "name" | "topic")) {
            self.template.push_str(" name");
            self.method = MethodKey::of(&self.template);
        }
        self
    }
}

fn walk<'a>(verb: &str, path: &'a str) -> Walk<'a> {
    let mut walk = Walk::default();
    walk.template.reserve(path.len() + verb.len() + 8);
    walk.template.extend(verb.chars().map(|c| c.to_ascii_uppercase()));
    walk.template.push(' ');
    let mut previous = "";
    for (at, segment) in path.split('/').filter(|segment| !segment.is_empty()).enumerate() {
        walk.template.push('/');
        let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
        if at == 0 {
            walk.head = segment;
            walk.template.push_str(segment);
        } else if digits {
            let id = segment.parse().ok();
            if at == 1 {
                walk.head_id = id;
            }
            if previous == "messages" {
                walk.message = Some(segment);
            }
            push_kind(&mut walk.template, previous);
        } else if at == 2 && walk.head_id.is_some() && matches!(walk.head, "webhooks" | "interactions") {
            walk.token = Some(segment);
            walk.template.push_str("{token}");
        } else if previous == "reactions" {
            walk.template.push_str("{emoji}");
        } else if matches!(previous, "invites" | "templates") && at == 1 {
            walk.template.push_str("{code}");
        } else if previous == "messages" && segment == "@original" {
            walk.message = Some(segment);
            walk.template.push_str("{message}");
        } else {
            walk.template.push_str(segment);
        }
        previous = if digits { "" } else { segment };
    }
    walk
}

/// `{channel}` behind `channels`, `{id}` behind another id.
fn push_kind(template: &mut String, previous: &str) {
    template.push('{');
    let kind = previous.strip_suffix('s').unwrap_or(previous);
    template.push_str(if kind.is_empty() { "id" } else { kind });
    template.push('}');
}
