//! What Telegram says in its answers.

use std::borrow::Cow;

use hyper::header::RETRY_AFTER;
use serde::Deserialize;
use serde_json::value::RawValue;
use tidegate_core::Span;

pub(crate) use crate::reply::{Reply, seconds};

const FLOOD: &str = "Too Many Requests: retry after ";

impl Reply {
    /// How long to wait, where a 429 says something that makes sense: the body's figure, else the header's.
    pub(super) fn retry_after(&self) -> Option<Span> {
        let said = said(&self.body);
        let in_body = said.parameters.and_then(|parameters| seconds(parameters.retry_after?.get().trim_matches('"')));
        in_body.or_else(|| seconds(self.headers.get(RETRY_AFTER)?.to_str().ok()?))
    }
}

/// What an answer says.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Said<'a> {
    #[serde(borrow, default)]
    pub(crate) description: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) parameters: Option<Parameters<'a>>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
}

/// What a client can act upon.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Parameters<'a> {
    #[serde(borrow, default)]
    retry_after: Option<&'a RawValue>,
    #[serde(borrow, default)]
    migrate_to_chat_id: Option<&'a RawValue>,
}

/// Reads an answer; one that is no JSON says nothing.
pub(crate) fn said(body: &[u8]) -> Said<'_> {
    serde_json::from_slice(body).unwrap_or_default()
}

impl Said<'_> {
    /// The chat's new id.
    pub(crate) fn migrated_to(&self) -> Option<i64> {
        self.parameters.as_ref()?.migrate_to_chat_id?.get().trim_matches('"').parse().ok()
    }

    /// The wait of a flood that another error wraps.
    pub(crate) fn wrapped_flood(&self) -> Option<Span> {
        let text = self.description.as_ref()?;
        let rest = text.get(text.find(FLOOD)? + FLOOD.len()..)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        seconds(rest.get(..end)?)
    }

    pub(crate) fn is_not_modified(&self) -> bool {
        self.description.as_ref().is_some_and(|text| text.contains("message is not modified"))
    }

    /// What Telegram says of a token that it does not know; for an unknown method or chat it says more.
    pub(crate) fn is_bare_not_found(&self) -> bool {
        self.description.as_deref() == Some("Not Found")
    }

    /// The id of the chat that the result stands in.
    pub(crate) fn chat_id(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct Message {
            chat: Chat,
        }
        #[derive(Deserialize)]
        struct Chat {
            id: i64,
        }
        let result = self.result?.get();
        let one = serde_json::from_str::<Message>(result).ok();
        let message = one.or_else(|| serde_json::from_str::<Vec<Message>>(result).ok()?.into_iter().next());
        message.map(|message| message.chat.id)
    }
}
