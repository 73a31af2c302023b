//! Whether the budgets of a write have enough for it, and what its row does when not.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::consider::{Go, How, Spread, Verdict, Wait};
use super::io::DropReason;
use super::plan::Rules;
use super::purse::{Purse, limit_for};
use super::store::{Bucket, Store};
use crate::policy::{Cell, Dry, PastHold};
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
                Store::Route => peer.learned(self.write.method).earliest(now) <= now,
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

    /// What the spread of its row says to an edit.
    #[inline(always)]
    pub(super) fn spread(&mut self, rules: &Rules) -> Spread {
        match rules.plan(self.write.row).spread_of(self.write) {
            Some((slot, limit)) => self.spread_over(rules, slot, limit),
            None => Spread::Free,
        }
    }

    #[inline(never)]
    fn spread_over(&mut self, rules: &Rules, slot: usize, limit: Limit) -> Spread {
        let (policy, now, write) = (&rules.policy, self.now, &self.write);
        let Some(peer) = &mut self.peer else { return Spread::Free };
        let previews = limit.units.saturating_sub(policy.settle_reserve).max(1);
        let thinned = limit.with(previews);
        let mut at = peer.window_mut(slot).earliest(self.tick, thinned, 1);
        let gap = limit.period.split(u64::from(previews.saturating_sub(policy.spread_burst).max(1)));
        let mut quiets = Time::ZERO;
        if let Some(extra) = &peer.extra {
            let burst = policy.spread_burst as usize;
            if let Some(last) = extra.edits.last() {
                let first_of_burst = extra.edits.len().checked_sub(burst.max(1)).map(|at| extra.edits[at]);
                let frees = if burst == 0 { Time::NEVER } else { first_of_burst.map_or(now, |at| at + limit.period) };
                at = at.max(frees.min(*last + gap));
            }
            let most = policy.settle_reserve as usize;
            let standing = extra.quiet.iter().filter(|at| **at + limit.period > now).count();
            if standing >= most {
                quiets = extra.quiet.get(extra.quiet.len() - most.max(1)).map_or(Time::NEVER, |at| *at + limit.period);
            }
        }
        if at <= now {
            return Spread::Free;
        }
        if write.named_final() {
            // Not by quiet, so it uses up none of the quiet ones' turns.
            return Spread::Free;
        }
        match write.settles_at.map(|settles| settles.max(quiets)) {
            Some(settled) if settled <= now => Spread::Quiet,
            Some(settled) => Spread::Kept(at.min(settled)),
            None => Spread::Kept(at),
        }
    }
}
