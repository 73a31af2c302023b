//! What is known of one peer.
#![expect(clippy::inline_always, reason = "every answer that teaches takes this path")]

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::write::NONE;
use crate::bucket::Token;
use crate::cooldown::Cooldown;
use crate::discord::Learned;
use crate::key::{MessageKey, MethodKey, Peer};
use crate::policy::BucketId;
use crate::time::Time;
use crate::window::Window;

/// Routes of one peer whose buckets are remembered at once.
const ROUTES: usize = 128;

/// One peer, in three cache lines. Its first token bucket and first window stand here, all that few peers need in
/// [`Extra`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct PeerState {
    pub(super) key: Peer,
    token: Token,
    pub(super) extra: Option<Box<Extra>>,
    /// When its line wants to be looked at.
    pub(super) wake: Time,
    /// The first of its writes in flight.
    pub(super) flying: u32,
    pub(super) booked: u32,
    /// Held and booked writes, the next to go first.
    pub(super) line: Vec<u32>,
    window: Window,
    /// The mark of the wheel's slot that it stands in.
    pub(super) watched: u32,
    /// It stands in the work list.
    pub(super) queued: bool,
    /// Something made its waits longer: they are to be measured again.
    pub(super) grown: bool,
    /// Its waits are to be measured once nothing more can go at this moment.
    pub(super) late: bool,
}

/// What few peers have.
#[derive(Debug, Default)]
pub(super) struct Extra {
    tokens: Vec<Token>,
    windows: Vec<Window>,
    /// Token buckets of topics, messages and methods that are not full.
    pub(super) keyed: Vec<(BucketId, u64, Token)>,
    pub(super) cooldown: Option<Cooldown>,
    pub(super) method_cooldowns: Vec<(MethodKey, Cooldown)>,
    /// Releases of the last edits, the latest last.
    pub(super) edits: Vec<Time>,
    /// Units in the window of the spread as the last edit left, itself included.
    pub(super) units: u32,
    /// Releases of settled edits that the spread would have kept back.
    pub(super) quiet: Vec<Time>,
    /// Releases without a token by a row's `pass_limit`.
    pub(super) passes: Vec<Time>,
    /// Messages whose named final was delivered, and until when that counts.
    pub(super) finals: Vec<(MessageKey, Time)>,
    /// The last release of a cell with a spacing.
    pub(super) spaced: Option<Time>,
    /// What the platform's answers told of the peer's routes.
    pub(super) learned: Vec<(MethodKey, Learned)>,
    /// Messages that are being streamed, and when the last edit of each was asked for.
    pub(super) streams: Vec<(MessageKey, Time)>,
    /// Messages of which an edit was delivered, the latest last.
    pub(super) known: Vec<MessageKey>,
    /// When the last of these memories ends.
    pub(super) remembers_until: Time,
}

impl PeerState {
    pub(super) fn new(key: Peer) -> Self {
        Self {
            key,
            token: Token::default(),
            window: Window::default(),
            line: Vec::new(),
            extra: None,
            flying: NONE,
            booked: 0,
            wake: Time::NEVER,
            queued: false,
            grown: false,
            late: false,
            watched: 0,
        }
    }

    /// Its writes that are held.
    pub(super) fn held(&self) -> usize {
        self.line.len() - self.booked as usize
    }

    pub(super) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_with(Box::default)
    }

    #[inline]
    pub(super) fn token(&self, at: usize) -> Token {
        match at.checked_sub(1) {
            None => self.token,
            Some(at) => self.extra.as_ref().and_then(|extra| extra.tokens.get(at)).copied().unwrap_or_default(),
        }
    }

    #[inline]
    pub(super) fn token_mut(&mut self, at: usize) -> &mut Token {
        match at.checked_sub(1) {
            None => &mut self.token,
            Some(at) => nth(&mut self.extra().tokens, at),
        }
    }

    #[inline]
    pub(super) fn window_mut(&mut self, at: usize) -> &mut Window {
        match at.checked_sub(1) {
            None => &mut self.window,
            Some(at) => nth(&mut self.extra().windows, at),
        }
    }

    /// What is known of a route's buckets.
    pub(super) fn learned(&self, method: MethodKey) -> Option<&Learned> {
        let extra = self.extra.iter().flat_map(|extra| &extra.learned);
        extra.into_iter().find(|(other, _)| *other == method).map(|(_, learned)| learned)
    }

    /// When one more of the route may go, by what is known of its buckets.
    #[inline]
    pub(super) fn route_free_at(&self, method: MethodKey, now: Time) -> Time {
        self.learned(method).map_or(now, |learned| learned.earliest(now))
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(super) fn learned_mut(&mut self, method: MethodKey) -> &mut Learned {
        let list = &mut self.extra().learned;
        let at = match list.iter().position(|(other, _)| *other == method) {
            Some(at) => at,
            None => add_route(list, method),
        };
        &mut list[at].1
    }

    #[inline]
    pub(super) fn cooldown(&self) -> Option<Cooldown> {
        self.extra.as_ref().and_then(|extra| extra.cooldown)
    }

    pub(super) fn method_cooldown(&self, method: MethodKey) -> Option<Cooldown> {
        let extra = self.extra.as_ref()?;
        extra.method_cooldowns.iter().find(|(other, _)| *other == method).map(|(_, cooldown)| *cooldown)
    }

    /// All its buckets as a new one's.
    pub(super) fn renew(&mut self) {
        self.token = Token::default();
        self.window = Window::default();
        if let Some(extra) = &mut self.extra {
            extra.tokens.clear();
            extra.windows.clear();
            extra.keyed.clear();
        }
    }

    /// Nothing stands in its windows any more.
    pub(super) fn clear_windows(&mut self) {
        self.window = Window::default();
        if let Some(extra) = &mut self.extra {
            extra.windows.clear();
        }
    }

    /// When it will be as a new one would be; never while something of it waits or flies.
    pub(super) fn fresh_at(&mut self, now: Time) -> Time {
        if !self.line.is_empty() || self.flying != NONE {
            return Time::NEVER;
        }
        let mut at = self.token.full_at().max(self.window.empty_at(now));
        if let Some(extra) = &mut self.extra {
            for token in extra.tokens.iter().chain(extra.keyed.iter().map(|(_, _, token)| token)) {
                at = at.max(token.full_at());
            }
            for window in &mut extra.windows {
                at = at.max(window.empty_at(now));
            }
            let cooldowns = extra.cooldown.iter().chain(extra.method_cooldowns.iter().map(|(_, cooldown)| cooldown));
            for cooldown in cooldowns {
                at = at.max(cooldown.until().unwrap_or(now));
            }
            for (_, learned) in &extra.learned {
                at = at.max(learned.forgets_at());
            }
            at = at.max(extra.remembers_until);
        }
        at
    }
}

/// Past a bound the route that was used the longest ago makes room.
#[inline(never)]
fn add_route(list: &mut Vec<(MethodKey, Learned)>, method: MethodKey) -> usize {
    if list.len() >= ROUTES {
        let oldest = list.iter().enumerate().min_by_key(|(_, (_, learned))| learned.forgets_at());
        let oldest = oldest.map_or(0, |(at, _)| at);
        list.swap_remove(oldest);
    }
    if list.is_empty() {
        // Most channels are called by one route alone.
        list.reserve_exact(1);
    }
    list.push((method, Learned::default()));
    list.len() - 1
}

fn nth<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}

impl PeerState {
    /// Takes over all that is known of the same peer under another name.
    pub(super) fn absorb(&mut self, mut other: Self, now: Time) {
        self.token = self.token.emptier(other.token);
        self.window.unite(&mut other.window, now);
        let Some(theirs) = other.extra.take() else { return };
        let Extra {
            tokens,
            windows,
            keyed,
            cooldown,
            method_cooldowns,
            edits,
            units,
            quiet,
            passes,
            finals,
            spaced,
            learned,
            streams,
            known,
            remembers_until,
        } = *theirs;
        for (at, token) in tokens.into_iter().enumerate() {
            let mine = self.token_mut(at + 1);
            *mine = mine.emptier(token);
        }
        for (at, mut window) in windows.into_iter().enumerate() {
            self.window_mut(at + 1).unite(&mut window, now);
        }
        let extra = self.extra();
        for (bucket, key, token) in keyed {
            match extra.keyed.iter_mut().find(|(id, other, _)| *id == bucket && *other == key) {
                Some((_, _, mine)) => *mine = mine.emptier(token),
                None => extra.keyed.push((bucket, key, token)),
            }
        }
        extra.cooldown = later(extra.cooldown, cooldown);
        for (method, cooldown) in method_cooldowns {
            match extra.method_cooldowns.iter_mut().find(|(other, _)| *other == method) {
                Some((_, mine)) => *mine = mine.later(cooldown),
                None => extra.method_cooldowns.push((method, cooldown)),
            }
        }
        // They stand in one window from now on.
        extra.units = extra.units.saturating_add(units);
        for (mine, theirs) in [(&mut extra.edits, edits), (&mut extra.quiet, quiet), (&mut extra.passes, passes)] {
            mine.extend(theirs);
            mine.sort_unstable();
        }
        extra.finals.extend(finals);
        extra.learned.extend(learned);
        extra.known.extend(known);
        extra.streams.extend(streams);
        extra.spaced = extra.spaced.max(spaced);
        extra.remembers_until = extra.remembers_until.max(remembers_until);
    }
}

fn later(a: Option<Cooldown>, b: Option<Cooldown>) -> Option<Cooldown> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.later(b)),
        (one, None) | (None, one) => one,
    }
}
