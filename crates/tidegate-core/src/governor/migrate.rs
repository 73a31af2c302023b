//! A chat that has another id from now on: its line, cooldowns and buckets go with it.

use alloc::vec::Vec;

use super::plan::Rules;
use super::state::State;
use super::write::NONE;
use crate::key::Peer;

impl State {
    pub(super) fn migrate(&mut self, rules: &Rules, from: &Peer, to: &Peer) {
        let to = self.moved.get(to).cloned().unwrap_or_else(|| to.clone());
        if *from == to || matches!(from, Peer::Method(_)) || matches!(to, Peer::Method(_)) {
            return;
        }
        self.moved.set(from, to.clone());
        // No chain is longer than one step: who moved to the old id is now where that one is.
        self.moved.redirect(from, &to);
        if self.forums.take(from).is_some() {
            self.forums.set(&to, ());
        }
        for (key, ..) in &mut self.refusals {
            if key == from {
                *key = to.clone();
            }
        }
        let Some(old) = self.peers.find(from) else { return };
        let new = self.peer(&to);
        for bot in &mut self.bots {
            bot.leave(old);
        }
        let Some(mut state) = self.peers.remove(old) else { return };
        let line = core::mem::take(&mut state.line);
        let mut flying = Vec::new();
        let mut at = state.flying;
        while at != NONE {
            flying.push(at);
            at = self.writes[at].next;
        }
        let chained: Vec<u32> = line.iter().chain(&flying).copied().filter(|id| self.writes[*id].chained).collect();
        for id in &chained {
            self.leave_chain(*id);
        }
        let reach = self.reach(rules, new);
        for id in line.iter().chain(&flying) {
            self.writes[*id].peer = new;
            self.writes[*id].reach = reach;
        }
        for (_, peer, _) in &mut self.deferrals {
            if *peer == old {
                *peer = new;
            }
        }
        let mine = &mut self.peers[new];
        mine.line.extend(&line);
        let writes = &self.writes;
        mine.line.sort_by_key(|id| writes[*id].place());
        mine.booked += state.booked;
        for id in flying {
            let next = core::mem::replace(&mut self.peers[new].flying, id);
            self.writes[id].next = next;
            self.writes[id].previous = NONE;
            if next != NONE {
                self.writes[next].previous = id;
            }
        }
        self.peers[new].absorb(state, self.now);
        self.join_chains(rules, &chained);
        self.trim(new);
        self.enqueue_grown(new);
    }

    /// Two lines in one may be over the bound of places kept: the last ones are given up.
    fn trim(&mut self, peer: u32) {
        while self.peers[peer].booked > super::BOOKED_PER_PEER_MAX {
            let last = self.peers[peer].line.iter().rev().copied().find(|id| !self.writes[*id].is_held());
            let Some(last) = last else { return };
            self.forget_booking(last);
        }
    }
}
