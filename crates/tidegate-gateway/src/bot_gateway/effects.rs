//! Carrying out what the gates say.

use bytes::Bytes;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::identify_queue::{self, Note};
use tidegate_core::send_queue::{self, Frame};
use tidegate_core::shard::{self, Generation, Why};

use super::events::Gathered;
use super::shard_slot::Upstream;
use super::{Count, Turn, frames};
use crate::session::Input;
use tidegate_net::Foreign;
use tidegate_trace::{dropped, ended, refused, stopped, waits};

impl Turn<'_> {
    pub(super) fn carry_out(&mut self, output: bot::Output<Bytes>) {
        match output {
            bot::Output::Shard { key, output } => self.shard(key, output),
            bot::Output::SendQueue { key, output } => self.send_queue(key, output),
            bot::Output::IdentifyQueue(identify_queue::Output::Note(Note::BudgetLow { remaining })) => {
                tracing::warn!(bot = %self.fleet.token, remaining, "few session starts are left of the day");
            }
            bot::Output::IdentifyQueue(_) => {}
            bot::Output::Outside(output) => self.outside(output),
            bot::Output::NotOpened { key } => self.too_many(key),
        }
    }

    fn shard(&mut self, key: ShardKey, output: shard::Output) {
        self.log(key, &output);
        match output {
            shard::Output::Connect { generation, url } => {
                self.session(key, Input::Going);
                self.dial(key, generation, &url);
            }
            shard::Output::Close { generation, code } => {
                let Some(seat) = self.state.seats.get_mut(&key) else { return };
                if seat.upstream.as_ref().is_some_and(|upstream| upstream.generation == generation) {
                    seat.close(code);
                    seat.upstream = None;
                }
            }
            shard::Output::Beat { generation, seq } => self.write(key, generation, frames::BEAT, frames::beat(seq)),
            shard::Output::Identify { generation } => {
                self.fleet.counts.add(Count::Identifies, 1);
                let said = self.state.seats.get_mut(&key).and_then(|seat| seat.session.identify());
                if let Some(said) = said {
                    self.write(key, generation, frames::IDENTIFY, frames::identify(&said.d));
                }
            }
            shard::Output::Resume { generation, session, seq } => {
                self.fleet.counts.add(Count::Resumes, 1);
                let Some(caller) = &self.state.caller else { return };
                let frame = frames::resume(&caller.identity.written, &session, seq);
                self.write(key, generation, frames::RESUME, frame);
            }
            shard::Output::RequestGrant => {
                self.session(key, Input::Going);
                self.discover_if_old();
            }
            shard::Output::Lost => {
                self.fleet.counts.add(Count::Lost, 1);
                self.session(key, Input::Lost);
            }
            shard::Output::Waiting { until, why } => {
                self.session(key, Input::Waiting { until, why });
                if why == Why::Budget {
                    self.discover_later();
                }
            }
            shard::Output::Stopped(reason) => self.session(key, Input::Stopped(reason)),
            shard::Output::SaveSession(_) | shard::Output::ReleaseGrant { .. } | shard::Output::Note(_) => {}
        }
    }

    fn send_queue(&mut self, key: ShardKey, output: send_queue::Output<Bytes>) {
        let counts = &self.fleet.counts;
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        let (op, frame) = match output {
            send_queue::Output::Send(Frame::Command { id }) => {
                let Some((op, frame, again)) = seat.commands.goes(id) else { return };
                if again {
                    tracing::info!(bot = %self.fleet.token, shard = %key, op, "asked again: its connection died first");
                }
                (op, frame)
            }
            send_queue::Output::Send(Frame::Subscriptions(guilds)) => (frames::SUBSCRIBE, frames::subscribe(&guilds)),
            send_queue::Output::Refused { what: _, reason } => {
                counts.add(Count::Refused, 1);
                tracing::debug!(bot = %self.fleet.token, shard = %key, reason = %refused(reason), "a command is refused");
                return;
            }
            send_queue::Output::Dropped { id: _, reason } => {
                counts.add(Count::Dropped, 1);
                tracing::debug!(bot = %self.fleet.token, shard = %key, reason = %dropped(reason), "a command is dropped");
                return;
            }
            send_queue::Output::Close { code } => return seat.close(code),
        };
        counts.add(Count::Sent, 1);
        if let Some(generation) = seat.upstream.as_ref().map(|upstream| upstream.generation) {
            seat.write(generation, op, frame);
        }
    }

    fn dial(&mut self, key: ShardKey, generation: Generation, url: &str) {
        self.fleet.counts.add(Count::Dials, 1);
        self.state.last_serial += 1;
        let serial = self.state.last_serial;
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        // Where its bot's socket is: what comes from Discord then goes to the bot without another thread.
        let _thread = seat.runtime.enter();
        let events = Gathered::new(self.fleet, key, serial);
        let handle = self.fleet.depot.dialer.dial(&self.state.main, url, events);
        seat.upstream = Some(Upstream { serial, generation, handle: Some(handle) });
    }

    fn write(&self, key: ShardKey, generation: Generation, op: u8, frame: Bytes) {
        if let Some(seat) = self.state.seats.get(&key) {
            seat.write(generation, op, frame);
        }
    }

    fn log(&self, key: ShardKey, output: &shard::Output) {
        let (bot, shard) = (&self.fleet.token, key);
        match output {
            shard::Output::Connect { generation, url } => {
                tracing::info!(%bot, %shard, generation = generation.0, url = %Foreign(url), "dials Discord");
            }
            shard::Output::Identify { .. } => tracing::info!(%bot, %shard, "IDENTIFY"),
            shard::Output::Resume { seq, .. } => tracing::info!(%bot, %shard, seq, "RESUME"),
            shard::Output::Lost => tracing::warn!(%bot, %shard, "the session is lost"),
            shard::Output::Waiting { until, why } => {
                let seconds = until.since(self.now).as_secs_ceil();
                tracing::info!(%bot, %shard, seconds, why = %waits(*why), "waits");
            }
            shard::Output::Stopped(reason) => {
                tracing::error!(%bot, %shard, reason = %stopped(*reason), "stopped: it is not tried again by itself");
            }
            shard::Output::Note(note) => self.note(key, note),
            shard::Output::Close { .. }
            | shard::Output::Beat { .. }
            | shard::Output::RequestGrant
            | shard::Output::ReleaseGrant { .. }
            | shard::Output::SaveSession(_) => {}
        }
    }
    fn note(&self, key: ShardKey, note: &shard::Note) {
        let (bot, shard) = (&self.fleet.token, key);
        match note {
            shard::Note::Stale { generation } => {
                tracing::debug!(%bot, %shard, generation = generation.0, "an older connection told something");
            }
            shard::Note::Unstable { reasons } => {
                let ends: Vec<String> =
                    reasons.iter().map(|(end, count)| format!("{} ({count})", ended(*end))).collect();
                tracing::warn!(%bot, %shard, ends = %ends.join(", "), "connections keep ending before they are stable");
            }
            shard::Note::NotYet { until, why } => {
                let seconds = until.since(self.now).as_secs_ceil();
                tracing::info!(%bot, %shard, seconds, why = %waits(*why), "cannot be started again yet");
            }
            shard::Note::Undecodable { last_op } => {
                tracing::warn!(%bot, %shard, op = *last_op, "Discord could not decode what was sent");
            }
        }
    }
}
