//! What the gates ask of each other.

use alloc::collections::VecDeque;

use super::Gateway;
use super::io::{Output, ShardKey};
use super::members::{Member, Seat};
use super::turns::Claimant;
use crate::gate::Gate;
use crate::shard::{self, Event};
use crate::time::{Span, Time};
use crate::{identify_queue, send_queue};

/// One gate's word to another, not delivered yet.
#[derive(Debug)]
pub(super) enum Mail {
    Shard(ShardKey, shard::Input),
    IdentifyQueue(identify_queue::Input),
}

impl<S: Clone> Gateway<S> {
    /// Tells a shard something, and its send queue how the connection fares.
    pub(super) fn tell_shard(&mut self, seat: Seat, input: shard::Input) {
        let now = self.now;
        let Some(member) = self.members.at_mut(seat) else { return };
        let news = match &input {
            shard::Input::Socket { generation, event } if member.shard.living() == Some(*generation) => {
                event_news(event)
            }
            _ => None,
        };
        if let Some(News::Opened) = news
            && member.opened != member.shard.living()
        {
            member.opened = member.shard.living();
            tell_send_queue(&mut self.outputs, now, member, send_queue::Input::Opened);
        }
        member.shard.handle(now, input);
        let mut next = member.shard.poll_output();
        while let Some(output) = next {
            self.carry_out(seat, output);
            next = self.members.at_mut(seat).and_then(|member| member.shard.poll_output());
        }
        if let Some(news) = news {
            self.pass_on(seat, &news);
        }
        self.members.reindex(seat);
    }

    fn pass_on(&mut self, seat: Seat, news: &News) {
        let Some(member) = self.members.at_mut(seat) else { return };
        let input = match news {
            News::Ready if member.shard.status() == shard::Status::Live => send_queue::Input::Ready,
            News::Resumed if member.shard.status() == shard::Status::Live => send_queue::Input::Resumed,
            News::Ready | News::Resumed | News::Opened => return,
            News::Acked => send_queue::Input::Ack,
            News::Closed(code) => send_queue::Input::Closed { code: *code },
            News::Identified => {
                // Later than it was decided, where the driver was held up: spacing counts from here.
                let (shard, grant) = (member.key.queued(), member.shard.grant().map(queued));
                if grant.is_some() {
                    self.mail.push_back(Mail::IdentifyQueue(identify_queue::Input::Identified { shard, grant }));
                }
                return;
            }
        };
        tell_send_queue(&mut self.outputs, self.now, member, input);
    }

    pub(super) fn tell_send_queue(&mut self, seat: Seat, input: send_queue::Input<S>) {
        let Some(member) = self.members.at_mut(seat) else { return };
        tell_send_queue(&mut self.outputs, self.now, member, input);
        self.members.reindex(seat);
    }

    fn carry_out(&mut self, seat: Seat, output: shard::Output) {
        let Some(member) = self.members.at_mut(seat) else { return };
        let key = member.key;
        match &output {
            shard::Output::Beat { .. } => {
                tell_send_queue(&mut self.outputs, self.now, member, send_queue::Input::Direct { op: HEARTBEAT });
            }
            shard::Output::Resume { .. } => {
                tell_send_queue(&mut self.outputs, self.now, member, send_queue::Input::Direct { op: RESUME });
            }
            shard::Output::Identify { .. } => {
                tell_send_queue(&mut self.outputs, self.now, member, send_queue::Input::Direct { op: IDENTIFY });
                let (shard, grant) = (key.queued(), member.shard.grant().map(queued));
                self.mail.push_back(Mail::IdentifyQueue(identify_queue::Input::Identified { shard, grant }));
            }
            shard::Output::Close { .. } => {
                tell_send_queue(&mut self.outputs, self.now, member, send_queue::Input::Closed { code: None });
            }
            shard::Output::RequestGrant => self.request(key),
            shard::Output::ReleaseGrant { grant, unused } => self.release(key, queued(*grant), *unused),
            shard::Output::Connect { .. }
            | shard::Output::SaveSession(_)
            | shard::Output::Lost
            | shard::Output::Waiting { .. }
            | shard::Output::Stopped(_)
            | shard::Output::Note(_) => {}
        }
        self.outputs.push_back(Output::Shard { key, output });
    }

    fn request(&mut self, key: ShardKey) {
        // It may have been told of an earlier place; that says nothing of the new one.
        self.told.retain(|told| told.key != key);
        if self.turns.claim(key.queued(), Claimant::Ours(key)) {
            self.mail
                .push_back(Mail::IdentifyQueue(identify_queue::Input::Request { shard: key.queued(), http: false }));
        }
    }

    fn release(&mut self, key: ShardKey, grant: identify_queue::GrantId, unused: bool) {
        let shard = key.queued();
        let release = identify_queue::Input::Release { shard, grant: Some(grant), unused };
        self.mail.push_back(Mail::IdentifyQueue(release));
        // One that lapsed ended its turn then.
        if self.turns.loan(shard).is_some_and(|loan| loan.id == grant) {
            self.end_turn(shard);
        }
    }

    /// Whose turn it is now asks.
    pub(super) fn end_turn(&mut self, shard: identify_queue::Shard) {
        if let Some(next) = self.turns.end(shard) {
            let http = next == Claimant::Outside;
            self.mail.push_back(Mail::IdentifyQueue(identify_queue::Input::Request { shard, http }));
        }
    }

    /// Tells the identify queue something, and the shards what it answers.
    pub(super) fn tell_identify_queue(&mut self, input: identify_queue::Input) {
        self.identify_queue.handle(self.now, input);
        self.changes.append(&mut self.identify_queue.take_changes());
        self.lines_moved = true;
        while let Some(output) = self.identify_queue.poll_output() {
            let output = match output {
                identify_queue::Output::Grant { shard, grant } => self.granted(shard, grant, output),
                identify_queue::Output::Deny { shard, refresh_at } => {
                    let holder = self.turns.holder(shard);
                    self.end_turn(shard);
                    if let Some(Claimant::Ours(key)) = holder {
                        // Asking again within the same moment would be denied again, without end.
                        let refresh_at = refresh_at.max(self.now + Span::from_millis(1));
                        self.mail.push_back(Mail::Shard(key, shard::Input::Denied { refresh_at }));
                        Output::IdentifyQueue(output)
                    } else {
                        Output::Outside(output)
                    }
                }
                identify_queue::Output::Note(_) | identify_queue::Output::Wake { .. } => Output::IdentifyQueue(output),
            };
            self.outputs.push_back(output);
        }
    }

    fn granted(
        &mut self,
        shard: identify_queue::Shard,
        grant: identify_queue::GrantId,
        output: identify_queue::Output,
    ) -> Output<S> {
        let outside = self.turns.holder(shard).is_none_or(|holder| holder == Claimant::Outside);
        let lapses_at = self.now + self.identify_queue.settings().hold_of(outside);
        match self.turns.granted(shard, grant, lapses_at) {
            Claimant::Ours(key) => {
                self.mail.push_back(Mail::Shard(key, shard::Input::Granted { grant: shard::Grant(grant.0) }));
                Output::IdentifyQueue(output)
            }
            Claimant::Outside => Output::Outside(output),
        }
    }

    /// Tells each shard that is the first of its line when its place comes, where it does not know.
    pub(super) fn tell_next_in_line(&mut self) {
        self.lines_moved = false;
        let mut told = core::mem::take(&mut self.told);
        let knew = told.len();
        for (shard, due) in self.identify_queue.next_in_line(self.now) {
            let Some(Claimant::Ours(key)) = self.turns.holder(shard) else { continue };
            // A place that may come at any moment moves with the clock; that is no news.
            let knows = |old: &Told| old.key == key && (old.due == due || old.due.max(due) <= self.now);
            if !told[..knew].iter().any(knows) {
                self.mail.push_back(Mail::Shard(key, shard::Input::NextInLine { due }));
            }
            told.push(Told { key, due });
        }
        told.drain(..knew);
        self.told = told;
    }
}

fn tell_send_queue<S: Clone>(
    outputs: &mut VecDeque<Output<S>>,
    now: Time,
    member: &mut Member<S>,
    input: send_queue::Input<S>,
) {
    member.send_queue.handle(now, input);
    while let Some(output) = member.send_queue.poll_output() {
        outputs.push_back(Output::SendQueue { key: member.key, output });
    }
}

/// What a shard was told of its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    key: ShardKey,
    due: Time,
}

/// Opcodes: <https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-opcodes>.
const HEARTBEAT: u8 = 1;
const IDENTIFY: u8 = 2;
const RESUME: u8 = 6;

/// What the living connection's events mean to its send queue.
enum News {
    Opened,
    Ready,
    Resumed,
    Acked,
    Closed(Option<u16>),
    /// IDENTIFY was handed to the socket.
    Identified,
}

fn event_news(event: &Event) -> Option<News> {
    match event {
        // Whoever says HELLO is open, told or not.
        Event::Opened | Event::Hello { .. } => Some(News::Opened),
        Event::Ready { .. } => Some(News::Ready),
        Event::Resumed => Some(News::Resumed),
        Event::Ack => Some(News::Acked),
        Event::Closed { code } => Some(News::Closed(*code)),
        Event::Error => Some(News::Closed(None)),
        Event::Sent { op: IDENTIFY } => Some(News::Identified),
        Event::Dispatch { .. }
        | Event::BeatAsked
        | Event::Reconnect
        | Event::InvalidSession { .. }
        | Event::Sent { .. } => None,
    }
}

fn queued(grant: shard::Grant) -> identify_queue::GrantId {
    identify_queue::GrantId(grant.0)
}
