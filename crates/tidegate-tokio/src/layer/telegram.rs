//! Telegram's Bot API.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tidegate_core::governor::{Class, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{MessageKey, MethodKey, Peer, Span};

use super::classify::{Classify, Judge, MaxHold, Verdict};
use super::header;

/// Calls of Telegram's Bot API whose arguments are JSON: `/bot<token>/<method>` and a body.
///
/// A request whose body is not JSON (a form, an upload) is taken for one without a chat, and then only the bot's own budget
/// paces it: give it a [`Peer`] in its extensions. Telegram counts a number and its string as one chat, and so does this.
#[derive(Clone, Debug)]
pub struct Telegram {
    policy: Arc<Policy>,
    hold: Option<Span>,
}

/// What a decision needs of a call's arguments.
#[derive(Debug, Default, Deserialize)]
struct Args {
    chat_id: Option<Id>,
    inline_message_id: Option<String>,
    message_id: Option<Id>,
    draft_id: Option<Id>,
    message_thread_id: Option<i64>,
    #[serde(default)]
    media: Items,
    #[serde(default)]
    message_ids: Items,
    rich_message: Option<IgnoredAny>,
    allow_paid_broadcast: Option<Flag>,
}

/// Libraries write ids as numbers and as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

/// A Boolean, or what stands in its place in calls of those who write it as text or a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Flag {
    Plain(bool),
    Number(i64),
    Text(String),
    Other(IgnoredAny),
}

impl Flag {
    /// As Telegram's own server reads a Boolean.
    fn is_true(&self) -> bool {
        match self {
            Self::Plain(flag) => *flag,
            Self::Number(number) => *number == 1,
            Self::Text(text) => ["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word)),
            Self::Other(_) => false,
        }
    }
}

/// A list, or what stands in its place in calls of one item.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Items {
    List(Vec<IgnoredAny>),
    One(IgnoredAny),
}

impl Default for Items {
    fn default() -> Self {
        Self::One(IgnoredAny)
    }
}

impl Telegram {
    /// By this policy, the governor's own.
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { policy, hold: None }
    }

    /// How long its callers can wait where a row says `max_hold = "auto"`. Without it that is 30 s, and 60 s for edits.
    #[must_use]
    pub fn hold(mut self, hold: Duration) -> Self {
        self.hold = Some(hold.into());
        self
    }

    /// A call by its method's name, in any case, and its arguments as a JSON object. For clients that are no `tower` service.
    pub fn write(&self, method: &str, arguments: &[u8]) -> Write {
        self.write_to(method, arguments, None)
    }

    fn write_to(&self, method: &str, arguments: &[u8], named: Option<Peer>) -> Write {
        let args: Args = serde_json::from_slice(arguments).unwrap_or_default();
        let inline = args.inline_message_id.map(|id| Peer::Inline(id.into()));
        let peer = args.chat_id.map(|id| Peer::parse(&id.text())).or(inline).or(named);
        let paid = args.allow_paid_broadcast.is_some_and(|flag| flag.is_true());
        let rich = args.rich_message.is_some();
        let row = self.policy.row_of(&Call { method, has_chat: peer.is_some(), rich, paid });
        let message = match args.draft_id {
            Some(draft) => Some(draft),
            // Other methods name messages that they only read.
            None => args
                .message_id
                .filter(|_| self.policy.row(row).merges() || self.policy.deletes.contains(&MethodKey::of(method))),
        };
        let items = if method.eq_ignore_ascii_case("sendMediaGroup") { &args.media } else { &args.message_ids };
        Write::new(Ticket(0), row, MethodKey::of(method))
            .peer(peer)
            .thread(args.message_thread_id)
            .message(message.map(|id| MessageKey::of(&id.text())))
            .weight(items.len())
            .auto_hold(self.hold)
    }
}

impl<B: AsRef<[u8]> + Clone> Classify<Request<B>> for Telegram {
    fn classify(&self, request: &Request<B>) -> Option<Write> {
        let path = request.uri().path();
        // File downloads are no calls of a method.
        if path.starts_with("/file/") {
            return None;
        }
        let method = path.rsplit('/').next().unwrap_or_default();
        let extensions = request.extensions();
        let write = self.write_to(method, request.body().as_ref(), extensions.get::<Peer>().cloned());
        Some(
            write
                .class(extensions.get::<Class>().copied())
                .max_hold(extensions.get::<MaxHold>().map(|hold| Span::from(hold.0))),
        )
    }

    fn again(&self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}

impl<B> Judge<Response<B>> for Telegram {
    fn judge(&self, response: &Response<B>) -> Verdict {
        match response.status() {
            // Telegram's server writes `parameters.retry_after` into the header too.
            StatusCode::TOO_MANY_REQUESTS => {
                Verdict::Refused { retry_after: header::retry_after(response.headers()), scope: None }
            }
            status if status.is_success() => Verdict::Ok,
            status if status.is_server_error() => Verdict::Transient,
            _ => Verdict::Permanent,
        }
    }
}

impl Id {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Items {
    /// An album has at most 10 media, a copy at most 100 messages.
    fn len(&self) -> u32 {
        match self {
            Self::List(items) => u32::try_from(items.len()).unwrap_or(100).clamp(1, 100),
            Self::One(_) => 1,
        }
    }
}
