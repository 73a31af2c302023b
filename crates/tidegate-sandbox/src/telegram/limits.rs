//! The numbers the judge keeps, and where each comes from.

use std::time::Duration;

use crate::store::StoreBounds;

/// One limit on a stream of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Never more than `count` units in any period of this length, however it is aligned.
    ///
    /// A unit stands from its arrival for `period`: the next may come exactly `period` later. A call heavier than
    /// `count` is let in when nothing stands, and then stands for as many periods as it would have filled.
    Window {
        /// Units, at least 1; the judge remembers at most this many calls.
        count: u32,
        /// Length of the window.
        period: Duration,
    },
    /// One call each `period`, with `burst` of them at once after a rest.
    ///
    /// A call counts once however many items it carries.
    Pace {
        /// Calls at once, at least 1.
        burst: u32,
        /// Time that gives one call back.
        period: Duration,
        /// How much too early a call may be: what the network may move it by.
        slack: Duration,
    },
}

/// The limits of the Bot API and the punishment of those who break them.
///
/// All times are platform time. Where Telegram publishes no number the default is named as ours.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Sends and edits in one private chat, counted together. Telegram's FAQ: one message a second, short bursts
    /// tolerated (<https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>). Burst 3 and
    /// slack 250 ms are ours.
    pub private: Vec<Rate>,
    /// Sends and edits in one group, supergroup or channel, counted together (tdlib/td#2592). The same FAQ: 20 a
    /// minute, here in any 60 s.
    pub group: Vec<Rate>,
    /// Sends and edits of one bot over all chats. The same FAQ: about 30 a second, here in any 1 s.
    pub overall: Vec<Rate>,
    /// Sends, forwards and copies with `allow_paid_broadcast`, over all chats, instead of `overall`: "up to 1000 messages
    /// per second" (<https://core.telegram.org/bots/api#sendmessage>), here in any 1 s.
    pub paid: Vec<Rate>,
    /// `sendChatAction` in one chat: 20 in 5 s and 40 in 30 s (<https://core.telegram.org/api/bots/ai>, second hand).
    pub typing: Vec<Rate>,
    /// Message drafts in one chat, a typing action on Telegram's side, hence the same numbers.
    pub draft: Vec<Rate>,
    /// Edits of one inline message. No number is published: none by default, they count in `overall`.
    pub inline: Vec<Rate>,
    /// One method of a bot that sets its own profile (`setMyCommands`, …). No number is published; ours.
    pub profile: Vec<Rate>,
    /// A ban called into doubles up to this length.
    pub ban_cap: Duration,
    /// The same for typing and drafts; 3 s as the page above has it.
    pub typing_ban_cap: Duration,
    /// Calls this soon after a ban began are refused but do not make it grow: they were on their way when the bot was
    /// told.
    pub ban_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        let typing = vec![
            Rate::Window { count: 20, period: Duration::from_secs(5) },
            Rate::Window { count: 40, period: Duration::from_secs(30) },
        ];
        Self {
            private: vec![Rate::Pace { burst: 3, period: second, slack: Duration::from_millis(250) }],
            group: vec![Rate::Window { count: 20, period: Duration::from_secs(60) }],
            overall: vec![Rate::Window { count: 30, period: second }],
            paid: vec![Rate::Window { count: 1_000, period: second }],
            draft: typing.clone(),
            typing,
            inline: Vec::new(),
            profile: vec![Rate::Window { count: 20, period: Duration::from_secs(60) }],
            ban_cap: Duration::from_secs(3600),
            typing_ban_cap: Duration::from_secs(3),
            ban_grace: Duration::from_millis(250),
        }
    }
}

/// How much the model may remember; past a bound the oldest goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bots.
    pub bots: usize,
    /// Chats over all bots, each with its windows and its figures.
    pub chats: usize,
    /// Messages over all chats.
    pub messages: usize,
    /// Bytes of message text over all chats, with the edits that are kept.
    pub text_bytes: usize,
    /// Past edits kept for one message.
    pub edits: usize,
    /// Lines of the log.
    pub log: usize,
    /// Forced answers that wait for their call.
    pub scripts: usize,
    /// Updates of one bot that wait for a poll.
    pub updates: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bots: 10_000,
            chats: 100_000,
            messages: 200_000,
            text_bytes: 64 << 20,
            edits: 600,
            log: 200_000,
            scripts: 1_000,
            updates: 1_000,
        }
    }
}

impl Bounds {
    pub(crate) fn store(&self) -> StoreBounds {
        StoreBounds { messages: self.messages, text_bytes: self.text_bytes, edits: self.edits }
    }
}
