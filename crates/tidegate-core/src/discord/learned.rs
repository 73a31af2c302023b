//! The buckets of a route, as the platform describes them in its answers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::described::Described;
use crate::time::{Span, Time};

/// Added to a window's end: the platform's clock and ours do not tick together.
pub(super) const PAD: Span = Span::from_millis(50);
/// While nothing is known one request goes; the rest wait for its answer, or so long.
pub(super) const PROBE: Span = Span::from_secs(1);
/// More than any route of Discord allows: not believed.
const LIMIT_MOST: u32 = 10_000;
/// A longer window is not believed without a 429.
const RESET_MOST: Span = Span::from_secs(3_600);
/// A limit is remembered so long past its last window.
const REMEMBER: Span = Span::from_secs(60);
/// Buckets of one route beside the one that was told last.
const OTHERS: usize = 3;

/// What an answer says of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The bucket's hash, hashed.
    pub hash: u64,
    /// Requests of a window.
    pub limit: u32,
    /// Requests left in it.
    pub remaining: u32,
    /// How long until it ends.
    pub reset_after: Span,
}

impl Headers {
    /// Whether they can be true.
    pub fn plausible(&self) -> bool {
        self.limit > 0 && self.limit <= LIMIT_MOST && self.reset_after <= RESET_MOST
    }
}

/// What is known of one route's buckets.
///
/// Most routes have one. Where answers name several in turn, which of them counts the next request shows only in its
/// answer: so each request counts in all of them, and the tightest decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The bucket that was told last; its limit is 0 while none is known.
    last: Described,
    /// The others that were told, the latest first.
    #[expect(clippy::box_collection, reason = "nearly all routes have none, and a pointer is a third of a list")]
    others: Option<Box<Vec<Described>>>,
    /// The last release.
    released: Option<Time>,
    /// An answer came without headers: there is nothing to learn.
    plain: bool,
    /// Sent and not answered. What leaves near a window's end may arrive in the next one.
    out: u32,
}

impl Learned {
    /// The earliest moment, `now` or later, at which one more may go.
    #[inline]
    pub fn earliest(&self, now: Time) -> Time {
        if self.plain {
            return now;
        }
        let probed = self.released.map_or(now, |at| (at + PROBE).max(now));
        if self.last.is_unknown() {
            return probed;
        }
        let at = self.last.earliest(now, self.out, probed);
        match &self.others {
            None => at,
            Some(others) => others.iter().map(|other| other.earliest(now, self.out, probed)).fold(at, Time::max),
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Described)) {
        act(&mut self.last);
        if let Some(others) = &mut self.others {
            others.iter_mut().for_each(act);
        }
    }

    /// One goes.
    pub fn release(&mut self, now: Time) {
        self.released = Some(now);
        self.each(|bucket| bucket.release(now, 0));
    }

    /// One goes whose end [`Self::landed`] will be told.
    pub(crate) fn depart(&mut self, now: Time) {
        let out = self.out;
        self.released = Some(now);
        self.each(|bucket| bucket.release(now, out));
        self.out += 1;
    }

    /// One that departed was answered, or did not go after all.
    pub(crate) fn landed(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// One will go at `at`, and its answer will tell of a window as long as the longest so far.
    pub(crate) fn foresee(&mut self, at: Time) {
        let out = if self.last.begins_anew(at) { core::mem::take(&mut self.out) } else { 0 };
        self.released = Some(at);
        self.each(|bucket| bucket.foresee(at, out));
    }

    /// One did not go after all.
    pub fn give_back(&mut self) {
        self.each(Described::give_back);
    }

    /// An answer came for a request that was released at `released`.
    pub fn answered(&mut self, now: Time, released: Time, headers: Option<Headers>) {
        let Some(headers) = headers.filter(Headers::plausible) else {
            self.plain = self.last.is_unknown();
            return;
        };
        self.plain = false;
        self.make_last(now, &headers);
        let late = self.released.is_some_and(|last| released < last);
        self.last.told(now, &headers, late);
        if let Some(others) = &mut self.others {
            others.iter_mut().for_each(Described::missed);
            others.retain(|other| other.counts(now));
            if others.is_empty() {
                self.others = None;
            }
        }
    }

    /// Brings the bucket that an answer names to the front. In a new one count, beside what its answer says, all requests
    /// that are out but the one answered.
    fn make_last(&mut self, now: Time, headers: &Headers) {
        if self.last.is(headers) {
            return;
        }
        let known = self.others.as_mut().and_then(|others| {
            let at = others.iter().position(|other| other.is(headers))?;
            Some(others.remove(at))
        });
        let next = known.unwrap_or_else(|| Described::new(now, headers, self.out.saturating_sub(1)));
        let last = core::mem::replace(&mut self.last, next);
        if last.is_unknown() {
            return;
        }
        let others = self.others.get_or_insert_with(Box::default);
        others.truncate(OTHERS - 1);
        others.insert(0, last);
    }

    /// A request ended. Where nothing has told of a bucket by then, there is none to wait for.
    pub fn ended(&mut self) {
        self.plain |= self.last.is_unknown();
    }

    /// When nothing of it need be remembered.
    pub fn forgets_at(&self) -> Time {
        let others = self.others.iter().flat_map(|others| others.iter());
        let resets = others.chain([&self.last]).map(Described::resets).fold(Time::ZERO, Time::max);
        self.released.unwrap_or(Time::ZERO).max(resets) + REMEMBER
    }
}
