//! Frames of the last minute, however it is aligned.

use std::collections::VecDeque;

use crate::discord::limits::Rate;
use crate::time::micros;

/// What a frame is to whoever paces frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Heartbeat, IDENTIFY, RESUME.
    Direct,
    Command,
    Subscription,
}

impl Class {
    pub(crate) fn of(op: u8) -> Self {
        match op {
            1 | 2 | 6 => Self::Direct,
            14 | 37 => Self::Subscription,
            _ => Self::Command,
        }
    }
}

/// Most frames that stood in one rolling minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Worst {
    pub(crate) all: u32,
    /// Without heartbeats, IDENTIFY and RESUME.
    pub(crate) queued: u32,
    pub(crate) subscriptions: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Minute {
    stamps: VecDeque<(u64, Class)>,
    now: Worst,
    pub(crate) worst: Worst,
}

/// Frames remembered of a connection whose limit was turned off.
const STAMPS_MAX: usize = 4096;

impl Minute {
    /// Adds a frame and tells how many there are.
    pub(crate) fn add(&mut self, now_us: u64, class: Class, rate: Rate) -> u32 {
        let period_us = micros(rate.period);
        while let Some((at_us, old)) = self.stamps.front().copied() {
            if at_us.saturating_add(period_us) > now_us && self.stamps.len() < STAMPS_MAX {
                break;
            }
            self.stamps.pop_front();
            self.shift(old, u32::wrapping_sub);
        }
        self.stamps.push_back((now_us, class));
        self.shift(class, u32::wrapping_add);
        self.worst.all = self.worst.all.max(self.now.all);
        self.worst.queued = self.worst.queued.max(self.now.queued);
        self.worst.subscriptions = self.worst.subscriptions.max(self.now.subscriptions);
        self.now.all
    }

    fn shift(&mut self, class: Class, by: fn(u32, u32) -> u32) {
        self.now.all = by(self.now.all, 1);
        if class != Class::Direct {
            self.now.queued = by(self.now.queued, 1);
        }
        if class == Class::Subscription {
            self.now.subscriptions = by(self.now.subscriptions, 1);
        }
    }
}
