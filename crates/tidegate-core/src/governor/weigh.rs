//! Whether the budgets of a write have enough for it, and what its row does when not.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::consider::{Go, How, Spread, Verdict, Wait};
use super::io::DropReason;
use super::peer::Extra;
use super::plan::Rules;
use super::purse::{Purse, limit_for};
use super::store::{Bucket, Store};
use crate::policy::{Cell, Dry, PastHold, Policy};
use crate::time::Time;
use crate::window::Limit;

impl Purse<'_> {
    /// Decides about a write that nothing but its budgets may keep back.
    #[inline(always)]
    pub(super) fn weigh(&mut self, rules: &Rules, turn: Option<usize>, closed: u32) -> Verdict {
        let quiet = match self.spread(rules) {
            Spread::Free => false,
            Spread::Quiet => true,
            Spread::Kept(wake) => {
                return Verdict::Wait(Wait { why: DropReason::Spread, wake, holds_back: false, bot: None });
            }
        };
        if let Some(at) = self.spaced(rules) {
            return Wait::behind(DropReason::Spacing, at);
        }
        let (now, mine) = (self.now, rules.buckets_of(self.write));
        let (mut peers_at, mut bots_at, mut bot) = (now, now, None);
        for bucket in mine {
            let at = self.earliest(bucket);
            match bucket.bot() {
                None => peers_at = peers_at.max(at),
                Some(slot) => {
                    let open = closed & (1 << slot) == 0;
                    let my_turn = open && (turn == Some(slot) || self.bots[slot].nobody_waits());
                    if (at > now || !my_turn) && bot.is_none() {
                        bot = Some((slot, at, bucket));
                    }
                    bots_at = bots_at.max(at);
                }
            }
        }
        if peers_at <= now && bot.is_none() {
            return Verdict::Go(Go { how: How::Token, quiet });
        }
        match self.short(rules, peers_at, bots_at) {
            Some(Verdict::Go(go)) => Verdict::Go(Go { quiet, ..go }),
            Some(other) => other,
            None => match bot {
                Some((slot, at, bucket)) if peers_at <= now => match self.for_the_bot(slot, at, bucket, turn) {
                    Verdict::Go(go) => Verdict::Go(Go { quiet, ..go }),
                    other => other,
                },
                _ => Wait::behind(DropReason::Dry, peers_at.max(now)),
            },
        }
    }

    /// Whether all its budgets have enough and nobody waits for one of the bot's: the common case of [`Self::weigh`],
    /// without asking when. `false` says nothing where budgets are of a rarer kind.
    #[inline(always)]
    pub(super) fn affords(&mut self, mine: &[Bucket]) -> bool {
        if !self.deferrals.is_empty() {
            return false;
        }
        let (now, base, tick, class) = (self.now, self.base, self.tick, self.write.class);
        let Some(peer) = self.peer.as_deref_mut() else { return false };
        for bucket in mine {
            let weight = bucket.weight(self.write.weight);
            let enough = match &bucket.store {
                Store::BotToken(slot, rate) => {
                    let bot = &self.bots[*slot];
                    bot.nobody_waits() && bot.token.has(*rate, base, weight)
                }
                Store::BotWindow(slot, limit, reserve) => {
                    let bot = &mut self.bots[*slot];
                    bot.nobody_waits() && bot.window.has_room(tick, limit_for(*limit, *reserve, class), weight)
                }
                Store::PeerToken(slot, rate) => peer.token(*slot).has(*rate, base, weight),
                Store::PeerWindow(slot, limit, reserve) => {
                    peer.window_mut(*slot).has_room(tick, limit_for(*limit, *reserve, class), weight)
                }
                Store::Route => peer.route_free_at(self.write.method, now) <= now,
                Store::Keyed(..) => false,
                Store::Nothing(_) => true,
            };
            if !enough {
                return false;
            }
        }
        true
    }

    /// What the cell does when a bucket is dry, where it does not wait.
    #[inline(never)]
    fn short(&self, rules: &Rules, peers_at: Time, bots_at: Time) -> Option<Verdict> {
        let (write, cell) = (&self.write, rules.row(self.write.row).cell(self.write.class));
        if cell.dry == Dry::Pass && self.may_pass(cell) {
            return Some(Verdict::Go(Go { how: How::Passed, quiet: false }));
        }
        let too_long = peers_at.max(bots_at).since(write.arrived) > write.limit;
        match write.past {
            PastHold::Drop if too_long => Some(Verdict::Drop(DropReason::MaxHold)),
            PastHold::Admit if too_long => Some(Verdict::Go(Go { how: How::FailedOpen, quiet: false })),
            PastHold::Drop | PastHold::Admit | PastHold::Refuse => None,
        }
    }

    /// All but the bot's bucket is there.
    #[inline(never)]
    fn for_the_bot(&mut self, slot: usize, at: Time, bucket: &Bucket, turn: Option<usize>) -> Verdict {
        let now = self.now;
        let since = *self.write.bot_since.get_or_insert(now);
        let mut need = at;
        if bucket.pass_after.is_some_and(|after| at.since(since) > after) && turn == Some(slot) {
            let spaced = self.bots[slot].last_pass.map_or(now, |last| last + bucket.pass_spacing);
            if spaced <= now {
                self.bots[slot].last_pass = Some(now);
                return Verdict::Go(Go { how: How::Passed, quiet: false });
            }
            need = need.min(spaced);
        }
        let wait = Wait { why: DropReason::Dry, wake: Time::NEVER, holds_back: true, bot: Some((slot, need)) };
        Verdict::Wait(wait)
    }

    fn may_pass(&self, cell: &Cell) -> bool {
        let Some((limit, period)) = cell.pass_limit else { return true };
        let extra = self.peer.as_ref().and_then(|peer| peer.extra.as_ref());
        let passes = extra.map_or(0, |extra| extra.passes.iter().filter(|at| **at + period > self.now).count());
        passes < limit as usize
    }

    /// Until when the spacing of its cell keeps a write back that is not dropped for it.
    #[inline(always)]
    pub(super) fn spaced(&self, rules: &Rules) -> Option<Time> {
        if rules.plan(self.write.row).spaces { self.spaced_until(rules) } else { None }
    }

    #[inline(never)]
    fn spaced_until(&self, rules: &Rules) -> Option<Time> {
        let spacing = rules.row(self.write.row).cell(self.write.class).spacing?;
        let last = self.peer.as_ref()?.extra.as_ref()?.spaced?;
        Some((last + spacing).min(self.write.paced_until)).filter(|at| *at > self.now)
    }

    /// What the spread of its row says to an edit.
    #[inline(always)]
    pub(super) fn spread(&mut self, rules: &Rules) -> Spread {
        match rules.plan(self.write.row).spread_of(self.write) {
            Some((slot, limit)) => self.spread_over(&rules.policy, slot, limit),
            None => Spread::Free,
        }
    }

    #[inline(never)]
    fn spread_over(&mut self, policy: &Policy, slot: usize, limit: Limit) -> Spread {
        let (now, write) = (self.now, &self.write);
        let Some(peer) = &mut self.peer else { return Spread::Free };
        let previews = previews(policy, limit);
        let mut at = peer.window_mut(slot).earliest(self.tick, limit.with(previews), 1);
        let mut quiets = Time::ZERO;
        if let Some(extra) = &peer.extra {
            at = at.max(extra.gap_ends(policy, limit));
            quiets = extra.quiets(policy, limit, now);
        }
        // Not by quiet, so it uses up none of the quiet ones' turns.
        if at <= now || write.named_final() || write.paced_until <= now {
            return Spread::Free;
        }
        let at = at.min(write.paced_until);
        match write.settles_at.map(|settles| settles.max(quiets)) {
            Some(settled) if settled <= now => Spread::Quiet,
            Some(settled) => Spread::Kept(at.min(settled)),
            None => Spread::Kept(at),
        }
    }
}

/// Units of the window that previews may use.
fn previews(policy: &Policy, limit: Limit) -> u32 {
    limit.units.saturating_sub(policy.settle_reserve).max(1)
}

impl Extra {
    /// When the next preview may go, as far as the peer's last edits say: the first of a window come at once, those after
    /// them the farther apart the fuller the window is. The gap grows with the units, so the last preview that has room
    /// comes about when the first unit leaves.
    fn gap_ends(&self, policy: &Policy, limit: Limit) -> Time {
        let Some(last) = self.edits.last() else { return Time::ZERO };
        let previews = u64::from(previews(policy, limit));
        let gap = limit.period.times(2 * u64::from(self.units)).split(previews * previews);
        let burst = policy.spread_burst as usize;
        let first_of_burst = self.edits.len().checked_sub(burst.max(1)).map(|at| self.edits[at]);
        let frees = if burst == 0 { Time::NEVER } else { first_of_burst.map_or(Time::ZERO, |at| at + limit.period) };
        frees.min(*last + gap)
    }

    /// When one more may go because it is quiet.
    fn quiets(&self, policy: &Policy, limit: Limit, now: Time) -> Time {
        let most = policy.settle_reserve as usize;
        let standing = self.quiet.iter().filter(|at| **at + limit.period > now).count();
        if standing < most {
            return Time::ZERO;
        }
        let first = self.quiet.len().checked_sub(most.max(1)).and_then(|at| self.quiet.get(at));
        first.map_or(Time::NEVER, |at| *at + limit.period)
    }
}
