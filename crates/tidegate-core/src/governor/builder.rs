//! Putting a write together.

use alloc::boxed::Box;

use super::io::{Class, Ticket, Write};
use crate::key::{MessageKey, MethodKey, Peer, field};
use crate::policy::RowId;
use crate::time::Span;

impl Write {
    /// A write of one message without a peer. The other methods add what else is known of it.
    ///
    /// ```
    /// use tidegate_core::governor::{Class, Ticket, Write};
    /// use tidegate_core::policy::{Call, Policy};
    /// use tidegate_core::{MessageKey, MethodKey, Peer};
    ///
    /// let policy = Policy::load("telegram", &[])?;
    /// let row = policy.row_of(&Call { method: "editMessageText", has_chat: true, rich: false, paid: false });
    /// let edit = Write::new(Ticket(1), row, MethodKey::of("editMessageText"))
    ///     .peer(Peer::Id(-100))
    ///     .message(MessageKey::of("7"))
    ///     .class(Class::Preview);
    /// assert_eq!(edit.weight, 1);
    /// # Ok::<(), tidegate_core::policy::PolicyError>(())
    /// ```
    pub fn new(ticket: Ticket, row: RowId, method: MethodKey) -> Self {
        Self {
            ticket,
            row,
            method,
            peer: None,
            wider: None,
            thread: None,
            message: None,
            class: None,
            weight: 1,
            fields: Box::default(),
            max_hold: None,
            auto_hold: None,
        }
    }

    /// The chat, channel or inline message that the platform counts it by.
    #[must_use]
    pub fn peer(mut self, peer: impl Into<Option<Peer>>) -> Self {
        self.peer = peer.into();
        self
    }

    /// A key whose cooldown concerns it too, whatever its method and peer: the id of a token webhook.
    #[must_use]
    pub fn wider(mut self, key: impl Into<Option<MethodKey>>) -> Self {
        self.wider = key.into();
        self
    }

    /// The topic of a forum.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<Option<i64>>) -> Self {
        self.thread = thread.into();
        self
    }

    /// The message or draft that it changes. Two edits of one message merge, the latest wins.
    #[must_use]
    pub fn message(mut self, message: impl Into<Option<MessageKey>>) -> Self {
        self.message = message.into();
        self
    }

    /// How much it matters; without it the row decides.
    #[must_use]
    pub fn class(mut self, class: impl Into<Option<Class>>) -> Self {
        self.class = class.into();
        self
    }

    /// How many messages it makes, 1 or more: an album has as many as it has media.
    #[must_use]
    pub fn weight(mut self, messages: u32) -> Self {
        self.weight = messages.max(1);
        self
    }

    /// The names of what an edit changes, for rows whose edits are partial: a newer edit takes the place of an older one
    /// only where it changes all that the older one does.
    #[must_use]
    pub fn fields<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.fields = names.into_iter().map(field).collect();
        self
    }

    /// How long it may be held, whatever its row says.
    #[must_use]
    pub fn max_hold(mut self, span: impl Into<Option<Span>>) -> Self {
        self.max_hold = span.into();
        self
    }

    /// How long its caller can wait: what a row's `max_hold = "auto"` means for it. Without it that is 30 s, and 60 s for
    /// edits and rich messages.
    #[must_use]
    pub fn auto_hold(mut self, span: impl Into<Option<Span>>) -> Self {
        self.auto_hold = span.into();
        self
    }
}
