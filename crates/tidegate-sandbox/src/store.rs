//! What stands in the chats: the current text of each message and how it came to be.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

use serde::Serialize;

use crate::marks::marker;

/// One edit of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// When, platform time.
    pub at_ms: u64,
    /// The text it set.
    pub text: String,
}

/// A message as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageView {
    /// Counts up in its chat from 1.
    pub message_id: i64,
    /// The text, caption or rich message now, trimmed as Telegram trims it.
    pub text: String,
    /// When it was sent, platform time.
    pub sent_at_ms: u64,
    /// Edits that changed something, all of them.
    pub edit_count: u64,
    /// The latest of those edits, oldest first.
    pub edits: VecDeque<Edit>,
    /// It has been deleted.
    pub deleted: bool,
}

/// What a message shows: its text and its keyboard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) text: String,
    /// What makes the same text look different: its entities or its mark-up language.
    pub(crate) style: String,
    pub(crate) markup: String,
    /// What stands beside the text: media, place or checklist.
    pub(crate) media: String,
}

impl Content {
    /// What it takes to keep: the text stands in the view as well.
    fn bytes(&self) -> usize {
        self.text.len() * 2 + self.style.len() + self.markup.len() + self.media.len()
    }
}

struct Stored {
    view: MessageView,
    content: Content,
    marker: Option<u64>,
    bytes: usize,
}

pub(crate) enum Edited {
    /// `backwards`: its marker is lower than the one that stood there.
    Changed {
        backwards: bool,
    },
    Same,
    /// Sent once, but no longer remembered.
    Unknown,
    Deleted,
}

/// How much a [`Store`] remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreBounds {
    pub(crate) messages: usize,
    pub(crate) text_bytes: usize,
    /// Past edits of one message.
    pub(crate) edits: usize,
}

/// The messages of all chats, `K` telling one chat from another.
pub(crate) struct Store<K> {
    bounds: StoreBounds,
    chats: HashMap<K, BTreeMap<i64, Stored>>,
    order: VecDeque<(K, i64)>,
    bytes: usize,
    /// What the times of messages count from.
    zero_us: u64,
}

impl<K: Eq + Hash + Clone> Store<K> {
    pub(crate) fn new(bounds: StoreBounds, zero_us: u64) -> Self {
        Self { bounds, zero_us, chats: HashMap::new(), order: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes
    }

    /// The highest id remembered, for a chat that was itself forgotten.
    pub(crate) fn last_id(&self, key: &K) -> i64 {
        self.chats.get(key).and_then(|messages| messages.last_key_value()).map_or(0, |(id, _)| *id)
    }

    pub(crate) fn insert(&mut self, key: &K, id: i64, now_us: u64, content: Content) {
        let marker = marker(&content.text);
        let bytes = content.bytes();
        let view = MessageView {
            message_id: id,
            text: content.text.clone(),
            sent_at_ms: self.at_ms(now_us),
            edit_count: 0,
            edits: VecDeque::new(),
            deleted: false,
        };
        self.chats.entry(key.clone()).or_default().insert(id, Stored { view, content, marker, bytes });
        self.order.push_back((key.clone(), id));
        self.bytes += bytes;
        self.shrink();
    }

    /// Applies an edit; parts that it does not name stay.
    pub(crate) fn edit(&mut self, key: &K, id: i64, now_us: u64, change: &Change) -> Edited {
        let at_ms = self.at_ms(now_us);
        let Some(stored) = self.chats.get_mut(key).and_then(|messages| messages.get_mut(&id)) else {
            return Edited::Unknown;
        };
        if stored.view.deleted {
            return Edited::Deleted;
        }
        let content = change.apply(&stored.content);
        if content == stored.content {
            return Edited::Same;
        }
        let marker = marker(&content.text);
        let backwards = matches!((marker, stored.marker), (Some(new), Some(old)) if new < old);
        stored.marker = marker.or(stored.marker);
        stored.view.text.clone_from(&content.text);
        stored.view.edit_count += 1;
        let before = stored.bytes;
        if stored.view.edits.len() >= self.bounds.edits.max(1)
            && let Some(old) = stored.view.edits.pop_front()
        {
            stored.bytes -= old.text.len();
        }
        stored.view.edits.push_back(Edit { at_ms, text: content.text.clone() });
        stored.bytes = stored.bytes + content.text.len() + content.bytes() - stored.content.bytes();
        stored.content = content;
        self.bytes = self.bytes + stored.bytes - before;
        self.shrink();
        Edited::Changed { backwards }
    }

    /// Whether there was something to delete; `None` if it is not remembered.
    pub(crate) fn delete(&mut self, key: &K, id: i64) -> Option<bool> {
        let stored = self.chats.get_mut(key)?.get_mut(&id)?;
        Some(!std::mem::replace(&mut stored.view.deleted, true))
    }

    pub(crate) fn text(&self, key: &K, id: i64) -> Option<&str> {
        Some(&self.chats.get(key)?.get(&id)?.view.text)
    }

    /// What a message shows, unless it was deleted.
    pub(crate) fn content(&self, key: &K, id: i64) -> Option<&Content> {
        let stored = self.chats.get(key)?.get(&id)?;
        (!stored.view.deleted).then_some(&stored.content)
    }

    /// Whether a message was deleted; `None` if it is not remembered.
    pub(crate) fn is_deleted(&self, key: &K, id: i64) -> Option<bool> {
        Some(self.chats.get(key)?.get(&id)?.view.deleted)
    }

    pub(crate) fn views(&self, key: &K) -> Vec<MessageView> {
        self.chats.get(key).map(|messages| messages.values().map(|it| it.view.clone()).collect()).unwrap_or_default()
    }

    fn at_ms(&self, now_us: u64) -> u64 {
        now_us.saturating_sub(self.zero_us) / 1000
    }

    fn shrink(&mut self) {
        while self.order.len() > self.bounds.messages.max(1)
            || (self.bytes > self.bounds.text_bytes && self.order.len() > 1)
        {
            let Some((key, id)) = self.order.pop_front() else { return };
            let Some(messages) = self.chats.get_mut(&key) else { continue };
            if let Some(gone) = messages.remove(&id) {
                self.bytes -= gone.bytes;
            }
            if messages.is_empty() {
                self.chats.remove(&key);
            }
        }
    }
}

/// What an edit names.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// Text and style.
    pub(crate) text: Option<(String, String)>,
    pub(crate) media: Option<String>,
    /// A missing keyboard removes it.
    pub(crate) markup: String,
}

impl Change {
    pub(crate) fn apply(&self, to: &Content) -> Content {
        let (text, style) = self.text.clone().unwrap_or_else(|| (to.text.clone(), to.style.clone()));
        Content {
            text,
            style,
            media: self.media.clone().unwrap_or_else(|| to.media.clone()),
            markup: self.markup.clone(),
        }
    }
}
