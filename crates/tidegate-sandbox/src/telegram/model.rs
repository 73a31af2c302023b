//! The judge itself: a Bot API without clock and without I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ban::Ban;
use super::call::{Answer, Call, PollTicket, Verdict};
use super::chat::{Chat, ChatKey, Gate, Peer};
use super::check;
use super::journal::{Journal, LogEntry};
use super::limits::{Bounds, Limits};
use super::message::text_of;
use super::meter::{Meter, least_room, longest_wait_us, take_all};
use super::methods::{Act, Family, Method, find};
use super::polls::Polls;
use super::script::{Forced, Script};
use super::tokens::bot_id;
use crate::lru::Lru;
use crate::marks::{beginning, marker};
use crate::scripts::Scripts;
use crate::store::Store;
use crate::time::micros;
use crate::tokens::Tokens;

/// What a [`Model`] is made of.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The limits it keeps.
    pub limits: Limits,
    /// How much it remembers.
    pub bounds: Bounds,
    /// Which tokens it takes.
    pub tokens: Tokens,
    /// Unix time, in seconds, of the model's moment zero: what `date` in messages counts from.
    pub epoch_unix_s: u64,
}

pub(crate) struct Bot {
    pub(crate) overall: Vec<Meter>,
    pub(crate) paid: Vec<Meter>,
    /// By method.
    pub(crate) profile: BTreeMap<&'static str, Gate>,
    pub(crate) polls: Polls,
}

/// A Telegram Bot API that keeps its published limits.
///
/// Times are platform time since the model's moment zero; a smaller one than the last is held to the last. All limits
/// count per bot.
///
/// - [`call`](Self::call): a call came; says the answer and when to send it.
/// - [`poll`](Self::poll), [`poll_gone`](Self::poll_gone): a long poll that waits.
/// - [`script`](Self::script), [`migrate`](Self::migrate), [`push_update`](Self::push_update): what tests force.
/// - [`stats`](Self::stats), [`log`](Self::log), [`messages`](Self::messages): what tests read.
pub struct Model {
    pub(crate) settings: Settings,
    pub(crate) bots: Lru<u64, Bot>,
    pub(crate) chats: Lru<ChatKey, Chat>,
    pub(crate) store: Store<ChatKey>,
    pub(crate) journal: Journal,
    pub(crate) scripts: Scripts<Script>,
    pub(crate) now_us: u64,
    /// Moment of the last reset: what the log counts from.
    pub(crate) zero_us: u64,
}

impl Bot {
    /// What a message counts in over all chats.
    fn overall(&mut self, paid: bool) -> &mut Vec<Meter> {
        if paid { &mut self.paid } else { &mut self.overall }
    }
}

/// A call while it is judged, and what the log will say of it.
pub(crate) struct Case<'a> {
    pub(crate) now_us: u64,
    pub(crate) bot: u64,
    pub(crate) method: Method,
    pub(crate) call: &'a Call,
    pub(crate) key: Option<ChatKey>,
    pub(crate) entry: LogEntry,
}

enum Admission {
    All,
    /// So many items of an album, then a flood wait.
    Part {
        delivered: u32,
        retry_after_s: u64,
    },
    Refused {
        retry_after_s: u64,
    },
}

impl Model {
    /// A platform on which nothing has happened yet.
    pub fn new(settings: Settings) -> Self {
        let bounds = settings.bounds;
        Self {
            bots: Lru::new(bounds.bots),
            chats: Lru::new(bounds.chats),
            store: Store::new(bounds.store(), 0),
            journal: Journal::new(bounds.log),
            scripts: Scripts::new(bounds.scripts),
            now_us: 0,
            zero_us: 0,
            settings,
        }
    }

    /// Takes a call that arrives at `now`.
    pub fn call(&mut self, now: Duration, call: &Call) -> Verdict {
        let now_us = self.advance(now);
        let mut entry = LogEntry { at_ms: (now_us - self.zero_us) / 1000, ..LogEntry::default() };
        // A malformed path may have a token where the method should be: such a name is not kept.
        find(&call.method).map_or("(unknown)", |method| method.name).clone_into(&mut entry.method);
        let Some(bot) = bot_id(&call.token) else {
            return self.recorded(entry, None, Answer::error(404, "Not Found").into());
        };
        entry.bot = bot;
        if !self.settings.tokens.take(&call.token) {
            return self.recorded(entry, None, Answer::error(401, "Unauthorized").into());
        }
        let Some(method) = find(&call.method) else {
            if call.method.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                entry.method = call.method.chars().take(64).collect();
            }
            return self.recorded(entry, None, Answer::error(404, "Not Found: method not found").into());
        };
        if let Some(text) = text_of(&call.args) {
            entry.marker = marker(&text);
            entry.text = Some(beginning(&text));
        }
        entry.message_id = call.args.number("message_id");
        let mut case = Case { now_us, bot, method, call, key: None, entry };
        let verdict = self.judge(&mut case);
        if verdict.poll.is_some() {
            // Logged when it ends, with the answer it ended with.
            return verdict;
        }
        self.recorded(case.entry, case.key.as_ref(), verdict)
    }

    /// The answer of a long poll that waits, once it has one.
    pub fn poll(&mut self, now: Duration, ticket: PollTicket) -> Option<Verdict> {
        let now_us = self.advance(now);
        let (answer, delay) = match self.bots.get_mut(&ticket.bot) {
            Some(bot) => bot.polls.look(now_us, ticket.generation)?,
            None => (Answer::ok(&serde_json::json!([])), Duration::ZERO),
        };
        let entry = self.poll_entry(ticket);
        Some(self.recorded(entry, None, Verdict { delay, ..answer.into() }))
    }

    /// The client of a long poll left before it was answered.
    pub fn poll_gone(&mut self, ticket: PollTicket) {
        if let Some(bot) = self.bots.get_mut(&ticket.bot) {
            bot.polls.gone(ticket.generation);
        }
        let entry = LogEntry { status: 499, ..self.poll_entry(ticket) };
        self.journal.record(entry);
    }

    fn poll_entry(&self, ticket: PollTicket) -> LogEntry {
        let at_ms = (self.now_us - self.zero_us) / 1000;
        LogEntry { at_ms, bot: ticket.bot, method: "getUpdates".into(), ..LogEntry::default() }
    }

    /// Lets time pass without a call: bans that are over by `now` are no longer counted as in force.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
    }

    fn advance(&mut self, now: Duration) -> u64 {
        self.now_us = self.now_us.max(micros(now));
        self.now_us
    }

    fn recorded(&mut self, mut entry: LogEntry, key: Option<&ChatKey>, verdict: Verdict) -> Verdict {
        entry.status = if verdict.cut { 0 } else { verdict.answer.status };
        entry.retry_after = verdict.answer.retry_after_s;
        entry.limited |= entry.status == 429;
        if let Some(chat) = key.and_then(|key| self.chats.get_mut(key)) {
            chat.tally.add(&entry);
        }
        self.journal.record(entry);
        verdict
    }

    fn judge(&mut self, case: &mut Case<'_>) -> Verdict {
        if case.method.reads_chat() {
            match check::peer(&case.call.args) {
                Ok(Some((peer, name))) => self.enter(case, peer, name),
                Ok(None) => {}
                Err(answer) => return answer.into(),
            }
        }
        let forced = self.scripts.take(|script| script.matches(case.bot, case.method.name, case.entry.chat.as_deref()));
        case.entry.forced = forced.is_some();
        match forced {
            None => self.answer(case),
            Some(Forced::Hang(delay)) => {
                let verdict = self.answer(case);
                Verdict { delay: verdict.delay.saturating_add(delay), ..verdict }
            }
            Some(Forced::LoseAnswer) => Verdict { cut: true, ..self.answer(case) },
            Some(Forced::DropBeforeAnswer) => {
                Verdict { cut: true, ..Answer::error(500, "Internal Server Error").into() }
            }
            Some(Forced::NotModified) => Answer::not_modified().into(),
            Some(Forced::Page { status }) => page(status).into(),
            Some(Forced::Status { status, description }) => {
                Answer::error(status, description.as_deref().unwrap_or(usual(status))).into()
            }
            Some(Forced::Migrate { to }) => {
                if let Some(chat) = case.key.as_ref().and_then(|key| self.chats.get_mut(key)) {
                    chat.migrated_to = Some(to);
                }
                Answer::migrated(to).into()
            }
            Some(Forced::TooMany { retry_after_s }) => {
                let (now_us, retry_after_s) = (case.now_us, retry_after_s.max(1));
                if let Some(gate) = self.gate(case) {
                    let ban = Ban::begin(now_us, retry_after_s.saturating_mul(1_000_000));
                    if gate.ban.is_none_or(|old| old.until_us < ban.until_us) {
                        gate.ban = Some(ban);
                    }
                }
                Answer::too_many(retry_after_s).into()
            }
        }
    }

    /// Notes the chat that a call is about, known from now on.
    fn enter(&mut self, case: &mut Case<'_>, peer: Peer, name: Option<String>) {
        case.entry.chat = Some(peer.to_string());
        let key = ChatKey { bot: case.bot, peer };
        let (limits, store) = (&self.settings.limits, &self.store);
        let chat = self.chats.entry(&key, || {
            let mut chat = Chat::new(&key.peer, limits);
            chat.last_message = store.last_id(&key);
            chat
        });
        if name.is_some() {
            chat.username = name;
        }
        case.key = Some(key);
    }

    fn answer(&mut self, case: &mut Case<'_>) -> Verdict {
        let chat = case.key.as_ref().and_then(|key| self.chats.peek(key));
        if let Some(to) = chat.and_then(|chat| chat.migrated_to) {
            return Answer::migrated(to).into();
        }
        if let Some(fault) = check::fault(&case.method, &case.call.args, case.key.as_ref().map(|key| &key.peer)) {
            return fault.into();
        }
        if let Some(answer) = self.missing(case) {
            return answer.into();
        }
        let units = check::units(case.method.act, &case.call.args);
        match self.admit(case, units) {
            Admission::All => self.act(case, units),
            Admission::Refused { retry_after_s } if case.method.act == Act::Album => {
                case.entry.limited = true;
                album_flood(1, retry_after_s).into()
            }
            Admission::Refused { retry_after_s } => Answer::too_many(retry_after_s).into(),
            Admission::Part { delivered, retry_after_s } => {
                case.entry.limited = true;
                self.act(case, delivered);
                album_flood(delivered + 1, retry_after_s).into()
            }
        }
    }

    pub(crate) fn bot(&mut self, id: u64) -> &mut Bot {
        let limits = &self.settings.limits;
        self.bots.entry(&id, || Bot {
            overall: Meter::all(&limits.overall),
            paid: Meter::all(&limits.paid),
            profile: BTreeMap::new(),
            polls: Polls::default(),
        })
    }

    fn gate(&mut self, case: &Case<'_>) -> Option<&mut Gate> {
        if case.method.family == Family::Profile {
            let rates = self.settings.limits.profile.clone();
            return Some(self.bot(case.bot).profile.entry(case.method.name).or_insert_with(|| Gate::new(&rates)));
        }
        self.chats.get_mut(case.key.as_ref()?)?.gate(case.method.family, &self.settings.limits)
    }

    /// Asks all limits of a call; takes from all of them or from none.
    fn admit(&mut self, case: &mut Case<'_>, units: u32) -> Admission {
        let now_us = case.now_us;
        let (family, grace) = (case.method.family, self.settings.limits.ban_grace);
        let cap = match family {
            Family::Typing | Family::Draft => self.settings.limits.typing_ban_cap,
            _ => self.settings.limits.ban_cap,
        };
        let paid = case.method.act.may_be_paid() && case.call.args.is_true("allow_paid_broadcast");
        let mut overall = Vec::new();
        if family == Family::Message {
            // Taken out for the moment: the chat is borrowed beside it.
            overall = std::mem::take(self.bot(case.bot).overall(paid));
        }
        let admission = match self.gate(case) {
            None => Admission::All,
            Some(gate) => admit(gate, &mut overall, case, units, |ban| ban.hit(now_us, grace, cap), cap),
        };
        if family == Family::Message {
            *self.bot(case.bot).overall(paid) = overall;
        }
        admission
    }

    /// Makes a group a supergroup, for good: its old id is answered with the new one from now on.
    pub fn migrate(&mut self, bot: u64, from: i64, to: i64) {
        let key = ChatKey { bot, peer: Peer::Chat(from) };
        let limits = &self.settings.limits;
        self.chats.entry(&key, || Chat::new(&key.peer, limits)).migrated_to = Some(to);
    }

    /// Forces answers; false if too many scripts wait already.
    pub fn script(&mut self, script: Script) -> bool {
        self.scripts.push(script)
    }

    /// Queues an update for a bot's polls and tells its `update_id`.
    pub fn push_update(&mut self, bot: u64, update: serde_json::Value) -> i64 {
        let max = self.settings.bounds.updates;
        self.bot(bot).polls.push(update, max)
    }
}

fn admit(
    gate: &mut Gate,
    overall: &mut [Meter],
    case: &mut Case<'_>,
    units: u32,
    hit: impl FnOnce(&mut Ban) -> bool,
    cap: Duration,
) -> Admission {
    let now_us = case.now_us;
    if let Some(ban) = gate.ban.as_mut().filter(|ban| ban.holds(now_us)) {
        case.entry.into_ban = hit(ban);
        return Admission::Refused { retry_after_s: ban.left_s(now_us) };
    }
    let wait_us = longest_wait_us(&mut gate.meters, now_us, units).max(longest_wait_us(overall, now_us, units));
    if wait_us == 0 {
        take_all(&mut gate.meters, now_us, units);
        take_all(overall, now_us, units);
        case.entry.units = if case.method.family == Family::Free { 0 } else { units };
        gate.ban = None;
        return Admission::All;
    }
    let ban = Ban::begin(now_us, wait_us.min(micros(cap)));
    gate.ban = Some(ban);
    let room = least_room(&mut gate.meters, now_us).min(least_room(overall, now_us)).min(units - 1);
    if case.method.act == Act::Album && room > 0 {
        take_all(&mut gate.meters, now_us, room);
        take_all(overall, now_us, room);
        case.entry.units = room;
        return Admission::Part { delivered: room, retry_after_s: ban.left_s(now_us) };
    }
    Admission::Refused { retry_after_s: ban.left_s(now_us) }
}

/// The 400 in which a flood wait inside an album comes (rubenlagus/TelegramBots#1520).
fn album_flood(item: u32, retry_after_s: u64) -> Answer {
    let text = format!(
        "Bad Request: failed to send message #{item} with the error message \"Too Many Requests: retry after \
         {retry_after_s}\""
    );
    Answer::error(400, &text)
}

fn page(status: u16) -> Answer {
    let body =
        format!("<html><head><title>{status}</title></head><body><center><h1>{status}</h1></center></body></html>");
    Answer { status, retry_after_s: None, body }
}

fn usual(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden: bot was blocked by the user",
        404 => "Not Found",
        409 => "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        413 => "Request Entity Too Large",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "state_tests.rs"]
mod state_tests;
