//! The two tables' limits, written down again from the specification.

use tidegate_core::governor::Class;
use tidegate_core::{Peer, Span};

use super::write::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Telegram,
    Forum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Free,
    Typing,
    Draft,
    Rich,
    Send,
    Edit,
    Write,
    ForumTyping,
    ForumSend,
    ForumRich,
}

impl Surface {
    pub(crate) fn of(table: Table, method: &str, has_chat: bool) -> Self {
        match (table, method) {
            (_, "getMe") => Self::Free,
            (Table::Telegram, "sendChatAction") => Self::Typing,
            (Table::Telegram, "sendMessageDraft") => Self::Draft,
            (Table::Telegram, "sendRichMessage") => Self::Rich,
            (Table::Telegram, "sendMessage" | "sendMediaGroup") => Self::Send,
            (_, "editMessageText" | "editMessageCaption") => Self::Edit,
            (Table::Telegram, _) if has_chat => Self::Write,
            (Table::Forum, "sendChatAction") => Self::ForumTyping,
            (Table::Forum, "sendMessage") => Self::ForumSend,
            (Table::Forum, "sendRichMessage") => Self::ForumRich,
            _ => Self::Free,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Typing | Self::ForumTyping => "typing",
            Self::Draft => "draft",
            Self::Rich | Self::ForumRich => "rich",
            Self::Send | Self::ForumSend => "send",
            Self::Edit => "edit",
            Self::Write => "write",
        }
    }

    pub(crate) fn default_class(self) -> Class {
        match self {
            Self::Typing | Self::ForumTyping => Class::Status,
            Self::Draft => Class::Preview,
            Self::Edit => Class::Final,
            _ => Class::Send,
        }
    }

    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Self::Send | Self::Rich)
    }

    /// A 429 of typing, draft or a free method cools its method alone.
    pub(crate) fn cools_its_peer(self) -> bool {
        !matches!(self, Self::Typing | Self::ForumTyping | Self::Draft | Self::Free)
    }

    pub(crate) fn marks(self) -> bool {
        matches!(self, Self::ForumTyping | Self::ForumRich)
    }
}

/// Never more than `units` in any rolling `period`.
pub(crate) struct Window {
    pub(crate) name: &'static str,
    pub(crate) units: u32,
    pub(crate) reserve: u32,
    pub(crate) period: Span,
    /// Counted for each peer apart.
    pub(crate) of_peer: bool,
}

pub(crate) fn windows(table: Table, write: &Write) -> Vec<Window> {
    let bot = |name| Window { name, units: 25, reserve: 0, period: Span::from_secs(1), of_peer: false };
    let group = Window { name: "group_minute", units: 18, reserve: 2, period: Span::from_secs(60), of_peer: true };
    match (table, write.surface) {
        (Table::Forum, _) | (_, Surface::Free) => Vec::new(),
        (_, Surface::Typing | Surface::Draft) => vec![bot("bot_light")],
        (_, Surface::Send | Surface::Rich | Surface::Edit) if is_group(write.peer.as_ref()) => {
            vec![group, bot("bot_second")]
        }
        _ => vec![bot("bot_second")],
    }
}

/// A burst, refilled by `units` a `period`.
#[derive(Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) name: &'static str,
    pub(crate) burst: u64,
    pub(crate) units: u64,
    pub(crate) period: Span,
    pub(crate) scope: TokenScope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenScope {
    Bot,
    Peer,
    Thread,
}

pub(crate) fn tokens(table: Table, write: &Write) -> Vec<Tokens> {
    let of = |name, burst, units, secs, scope| Tokens { name, burst, units, period: Span::from_secs(secs), scope };
    let peer = TokenScope::Peer;
    let bot = of("bot_second", 25, 25, 1, TokenScope::Bot);
    let chat = matches!(write.peer, Some(Peer::Id(_) | Peer::Name(_)));
    match (table, write.surface) {
        (Table::Telegram, Surface::Typing) => vec![of("typing_thread", 1, 1, 4, TokenScope::Thread)],
        (Table::Telegram, Surface::Draft) => vec![of("draft_chat", 2, 1, 1, peer)],
        (Table::Telegram, Surface::Send | Surface::Rich | Surface::Edit) if chat => {
            vec![of("chat_second", 3, 1, 1, peer)]
        }
        (Table::Forum, Surface::ForumTyping) => vec![of("typing", 8, 1, 3, peer)],
        (Table::Forum, Surface::Edit) => vec![of("edits", 10, 18, 60, peer)],
        (Table::Forum, Surface::ForumSend) => {
            vec![of("sends_sec", 5, 1, 1, peer), of("sends_min", 18, 18, 60, peer), bot]
        }
        (Table::Forum, Surface::ForumRich) => vec![of("rich", 10, 18, 60, peer), bot],
        _ => Vec::new(),
    }
}

pub(crate) fn is_group(peer: Option<&Peer>) -> bool {
    match peer {
        Some(Peer::Id(id)) => *id < 0,
        Some(Peer::Name(_)) => true,
        _ => false,
    }
}
