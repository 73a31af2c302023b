//! What went to Discord and whose effect has not been seen: it is asked again when the connection that it went to dies and
//! the session is resumed.
//!
//! What Discord only has to read (a presence, a voice state, a subscription, a command of an unknown kind) is done once a
//! heartbeat that was written after it is acknowledged, for Discord takes a connection's frames in order. A request is done
//! only when its answer has come: an ACK says that it was read, not that the answer did not die with the connection.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::commands::Kind;
use super::io::Guild;
use super::pending::Taken;
use crate::time::{Span, Time};

/// Commands, and guilds with their snapshots, that are remembered; beyond it the oldest are forgotten.
pub const OWED_MAX: usize = 256;
/// The bytes of commands, and those of snapshots, that are remembered; beyond it the oldest are forgotten.
pub const OWED_BYTES: usize = 32 << 10;
/// A request that was not answered for so long is not asked again, and a `RATE_LIMITED` that comes later is not its.
pub const ANSWER_WAIT: Span = Span::from_secs(300);
/// So often one is asked again: it may be the very frame that the connections die of.
pub const AGAIN_MAX: u8 = 3;

/// The beats of the living connection, and how many of them were acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beats {
    written: u64,
    acked: u64,
}

impl Beats {
    pub(super) fn wrote(&mut self) {
        self.written += 1;
    }

    /// Each ACK answers one beat, the oldest first.
    pub(super) fn acked(&mut self) {
        self.acked = self.written.min(self.acked + 1);
    }

    /// What is written now is read once this beat is acknowledged.
    fn next(self) -> u64 {
        self.written + 1
    }
}

/// How it stands with one that went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Went {
    /// Its place in the order in which all first went.
    place: u64,
    /// When it first went, or when it went after Discord had dropped it.
    since: Time,
    /// How often it was asked again.
    again: u8,
}

#[derive(Debug)]
struct Entry<T> {
    what: T,
    bytes: usize,
    went: Went,
    /// The beat of the living connection whose ACK shows that it was read; none of an earlier connection's is to come.
    read_by: Option<u64>,
    /// It is the guild's last request for all members: a `RATE_LIMITED` may be its.
    is_last: bool,
}

impl<T> Entry<T> {
    fn is_unread(&self, beats: Beats) -> bool {
        self.read_by.is_none_or(|beat| beat > beats.acked)
    }
}

/// All of one kind that went, by their places.
#[derive(Debug)]
struct Entries<T> {
    by_place: BTreeMap<u64, Entry<T>>,
    bytes: usize,
    next_place: u64,
}

impl<T> Entries<T> {
    fn new() -> Self {
        Self { by_place: BTreeMap::new(), bytes: 0, next_place: 0 }
    }

    /// One that goes for the first time.
    fn first(&mut self, now: Time) -> Went {
        let place = self.next_place;
        self.next_place += 1;
        Went { place, since: now, again: 0 }
    }

    fn add(&mut self, what: T, bytes: usize, went: Went, read_by: Option<u64>) {
        self.bytes += bytes;
        self.by_place.insert(went.place, Entry { what, bytes, went, read_by, is_last: true });
        while self.by_place.len() > OWED_MAX || self.bytes > OWED_BYTES {
            let Some((_, oldest)) = self.by_place.pop_first() else { break };
            self.bytes -= oldest.bytes;
        }
    }

    fn retain(&mut self, keeps: impl Fn(&Entry<T>) -> bool) {
        let bytes = &mut self.bytes;
        self.by_place.retain(|_, entry| {
            let kept = keeps(entry);
            *bytes -= if kept { 0 } else { entry.bytes };
            kept
        });
    }

    fn remove(&mut self, place: u64) -> Option<Entry<T>> {
        let entry = self.by_place.remove(&place)?;
        self.bytes -= entry.bytes;
        Some(entry)
    }

    fn connection_died(&mut self) {
        self.by_place.values_mut().for_each(|entry| entry.read_by = None);
    }

    /// All of them, in order.
    fn take(&mut self) -> impl Iterator<Item = Entry<T>> {
        self.bytes = 0;
        core::mem::take(&mut self.by_place).into_values()
    }

    fn check(&self) {
        assert!(self.by_place.len() <= OWED_MAX && self.bytes <= OWED_BYTES, "what is remembered is bounded");
        assert_eq!(self.by_place.values().map(|entry| entry.bytes).sum::<usize>(), self.bytes);
    }
}

/// A command as it waits, goes, and is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) id: u64,
    pub(super) kind: Kind,
    pub(super) bytes: usize,
}

/// The commands that went.
#[derive(Debug)]
pub(super) struct OwedCommands(Entries<Command>);

impl OwedCommands {
    pub(super) fn new() -> Self {
        Self(Entries::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.by_place.len()
    }

    pub(super) fn knows(&self, id: u64) -> bool {
        self.0.by_place.values().any(|entry| entry.what.id == id)
    }

    /// It goes now; an older state that it replaces is owed no more.
    pub(super) fn goes(&mut self, now: Time, command: Command, before: Option<Went>, beats: Beats) {
        if command.kind.is_state() {
            self.0.retain(|entry| entry.what.kind != command.kind);
        }
        if command.kind.is_all_members() {
            let older = self.0.by_place.values_mut().filter(|entry| entry.what.kind == command.kind);
            older.for_each(|entry| entry.is_last = false);
            self.0.retain(|entry| entry.is_last || entry.went.again < AGAIN_MAX);
        }
        let again = |went: Went| Went { again: went.again + 1, ..went };
        let went = before.map_or_else(|| self.0.first(now), again);
        let bytes = command.bytes;
        self.0.add(command, bytes, went, Some(beats.next()));
    }

    /// It was to go again, and its connection died before.
    pub(super) fn still_owed(&mut self, command: Command, went: Went) {
        let bytes = command.bytes;
        self.0.add(command, bytes, went, None);
    }

    /// A beat was acknowledged: all that was written before it was read.
    pub(super) fn read(&mut self, beats: Beats) {
        self.0.retain(|entry| entry.what.kind.is_request() || entry.is_unread(beats));
    }

    /// All of its answer has come, or its effect was seen.
    pub(super) fn answered(&mut self, id: u64) {
        self.lapse_where(|entry| entry.what.id == id);
    }

    /// Discord dropped the last request for all members of the guild.
    pub(super) fn refused(&mut self, guild: &Guild) -> Option<Command> {
        let is_its =
            |entry: &&Entry<Command>| entry.is_last && matches!(&entry.what.kind, Kind::AllMembers(of) if of == guild);
        let place = self.0.by_place.values().find(is_its)?.went.place;
        self.0.remove(place).map(|entry| entry.what)
    }

    pub(super) fn connection_died(&mut self) {
        self.0.connection_died();
    }

    /// Nothing of it is asked again.
    pub(super) fn lapse(&mut self) {
        self.lapse_where(|_| true);
    }

    /// These are not asked again because a connection died. What asked for all members still is if a `RATE_LIMITED` says
    /// that it was dropped.
    fn lapse_where(&mut self, lapses: impl Fn(&Entry<Command>) -> bool) {
        self.0.retain(|entry| (entry.what.kind.is_all_members() && entry.is_last) || !lapses(entry));
        let over = self.0.by_place.values_mut().filter(|entry| lapses(entry));
        over.for_each(|entry| entry.went.again = AGAIN_MAX);
    }

    /// What is to be asked again, in order.
    pub(super) fn take(&mut self) -> Vec<(Command, Went)> {
        let (again, rest): (Vec<_>, Vec<_>) = self.0.take().partition(|entry| entry.went.again < AGAIN_MAX);
        for Entry { what, bytes, went, read_by, is_last } in rest {
            if what.kind.is_all_members() && is_last {
                self.0.add(what, bytes, went, read_by);
            }
        }
        again.into_iter().map(|entry| (entry.what, entry.went)).collect()
    }

    pub(super) fn pass(&mut self, now: Time) {
        self.0.retain(|entry| !entry.what.kind.is_request() || entry.went.since + ANSWER_WAIT > now);
    }

    pub(super) fn check(&self) {
        self.0.check();
    }
}

/// The newest snapshot of each guild that went.
#[derive(Debug)]
pub(super) struct OwedSnapshots<S>(Entries<(Guild, S)>);

impl<S> OwedSnapshots<S> {
    pub(super) fn new() -> Self {
        Self(Entries::new())
    }

    pub(super) fn goes(&mut self, now: Time, taken: Taken<S>, beats: Beats) {
        let Taken { guild, snapshot, bytes, again } = taken;
        let older = self.0.by_place.values().find(|entry| entry.what.0 == guild).map(|entry| entry.went.place);
        older.map(|place| self.0.remove(place));
        let went = Went { again, ..self.0.first(now) };
        self.0.add((guild, snapshot), bytes, went, Some(beats.next()));
    }

    pub(super) fn read(&mut self, beats: Beats) {
        self.0.retain(|entry| entry.is_unread(beats));
    }

    pub(super) fn connection_died(&mut self) {
        self.0.connection_died();
    }

    pub(super) fn lapse(&mut self) {
        self.0.retain(|_| false);
    }

    /// What is to be asked again, in order.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Taken<S>> {
        let again = self.0.take().filter(|entry| entry.went.again < AGAIN_MAX);
        again.map(|Entry { what: (guild, snapshot), bytes, went, .. }| Taken {
            guild,
            snapshot,
            bytes,
            again: went.again,
        })
    }

    pub(super) fn check(&self) {
        self.0.check();
    }
}
