//! A message as the platform keeps it.

use std::collections::BTreeMap;

/// What each part of a message was set by.
pub(super) type Message = BTreeMap<&'static str, u64>;

/// One edit, as far as the message is concerned.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) ticket: u64,
    pub(super) method: &'static str,
    /// The top-level keys of its body, where the platform reads it so.
    pub(super) fields: Vec<&'static str>,
}

impl Edit {
    /// Telegram's edits replace the markup whatever else they are for, or drop it. Discord's change what they name.
    fn sets(&self) -> &[&'static str] {
        match self.method {
            "editMessageText" => &["text", "markup"],
            "editMessageCaption" => &["caption", "markup"],
            "editMessageMedia" => &["media", "caption", "markup"],
            "editMessageLiveLocation" => &["location", "markup"],
            "editMessageChecklist" => &["checklist", "markup"],
            "editMessageReplyMarkup" => &["markup"],
            "stopMessageLiveLocation" | "stopPoll" | "setGameScore" => &["stopped", "markup"],
            _ => &self.fields,
        }
    }

    pub(super) fn apply(&self, message: &mut Message) {
        if self.method == "editMessageLiveLocation" && message.contains_key("stopped") {
            return;
        }
        message.extend(self.sets().iter().map(|part| (*part, self.ticket)));
    }

    /// Whether the end is the same in either order.
    pub(super) fn commutes_with(&self, other: &Self) -> bool {
        after([self, other]) == after([other, self])
    }
}

/// The message after these edits, one after the other.
pub(super) fn after<'a>(edits: impl IntoIterator<Item = &'a Edit>) -> Message {
    let mut message = Message::new();
    edits.into_iter().for_each(|edit| edit.apply(&mut message));
    message
}
