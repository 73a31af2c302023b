//! Long polls of one bot: one at a time, and what waits for it.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::{Answer, Args};
use crate::time::micros;

/// The Bot API server cuts longer polls to this (`LONG_POLL_MAX_TIMEOUT` of telegram-bot-api).
pub(crate) const TIMEOUT_MAX_S: u64 = 50;
/// After one conflict the next ones within this time are answered only after it (same server).
const CONFLICT_PAUSE: Duration = Duration::from_secs(3);
/// Ended polls whose client has not been answered yet.
const ENDED_MAX: usize = 64;

const CONFLICT: &str =
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
const CONFLICT_WEBHOOK: &str = "Conflict: terminated by setWebhook request";
const WEBHOOK: &str =
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

struct Waiting {
    generation: u64,
    until_us: u64,
    offset: i64,
    limit: usize,
}

pub(crate) enum Asked {
    Now(Answer),
    Wait { generation: u64, timeout: Duration },
}

#[derive(Default)]
pub(crate) struct Polls {
    generation: u64,
    waiting: Option<Waiting>,
    ended: VecDeque<(u64, Answer, Duration)>,
    next_conflict_us: u64,
    pub(crate) webhook: Option<String>,
    last_update: i64,
    updates: VecDeque<(i64, Value)>,
}

impl Polls {
    pub(crate) fn ask(&mut self, now_us: u64, args: &Args) -> Asked {
        if self.webhook.is_some() {
            return Asked::Now(Answer::error(409, WEBHOOK));
        }
        self.end(now_us, CONFLICT);
        let offset = args.number("offset").unwrap_or(0);
        let limit = args.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100).clamp(1, 100);
        let timeout_s = args.number("timeout").and_then(|s| u64::try_from(s).ok()).unwrap_or(0).min(TIMEOUT_MAX_S);
        let ready = self.collect(offset, limit);
        if timeout_s == 0 || ready.is_some() {
            return Asked::Now(ready.unwrap_or_else(none));
        }
        self.generation += 1;
        let timeout = Duration::from_secs(timeout_s);
        let until_us = now_us.saturating_add(micros(timeout));
        self.waiting = Some(Waiting { generation: self.generation, until_us, offset, limit });
        Asked::Wait { generation: self.generation, timeout }
    }

    /// The answer of a poll that waits, if there is one by now, and how much later it is to be sent.
    pub(crate) fn look(&mut self, now_us: u64, generation: u64) -> Option<(Answer, Duration)> {
        if let Some(index) = self.ended.iter().position(|ended| ended.0 == generation) {
            let (_, answer, delay) = self.ended.remove(index)?;
            return Some((answer, delay));
        }
        let Some(waiting) = self.waiting.as_ref().filter(|waiting| waiting.generation == generation) else {
            return Some((Answer::error(409, CONFLICT), Duration::ZERO));
        };
        let (offset, limit, until_us) = (waiting.offset, waiting.limit, waiting.until_us);
        let answer = self.collect(offset, limit);
        if answer.is_none() && now_us < until_us {
            return None;
        }
        self.waiting = None;
        Some((answer.unwrap_or_else(none), Duration::ZERO))
    }

    /// The client of a poll left: the next one is no conflict.
    pub(crate) fn gone(&mut self, generation: u64) {
        self.waiting = self.waiting.take().filter(|waiting| waiting.generation != generation);
        self.ended.retain(|ended| ended.0 != generation);
    }

    pub(crate) fn set_webhook(&mut self, now_us: u64, url: &str) {
        self.webhook = (!url.is_empty()).then(|| url.chars().take(512).collect());
        if self.webhook.is_some() {
            self.end(now_us, CONFLICT_WEBHOOK);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.updates.clear();
    }

    pub(crate) fn pending(&self) -> usize {
        self.updates.len()
    }

    /// Queues an update; the oldest goes past `max`.
    pub(crate) fn push(&mut self, mut update: Value, max: usize) -> i64 {
        self.last_update += 1;
        if let Some(fields) = update.as_object_mut() {
            fields.insert("update_id".into(), self.last_update.into());
        }
        while self.updates.len() >= max.max(1) {
            self.updates.pop_front();
        }
        self.updates.push_back((self.last_update, update));
        self.last_update
    }

    fn end(&mut self, now_us: u64, text: &str) {
        let Some(waiting) = self.waiting.take().filter(|waiting| waiting.until_us > now_us) else { return };
        let delay = if now_us < self.next_conflict_us { CONFLICT_PAUSE } else { Duration::ZERO };
        self.next_conflict_us = self.next_conflict_us.max(now_us.saturating_add(micros(CONFLICT_PAUSE)));
        if self.ended.len() >= ENDED_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back((waiting.generation, Answer::error(409, text), delay));
    }

    fn collect(&mut self, offset: i64, limit: usize) -> Option<Answer> {
        if offset > 0 {
            self.updates.retain(|(id, _)| *id >= offset);
        }
        let found: Vec<&Value> = self.updates.iter().take(limit).map(|(_, update)| update).collect();
        (!found.is_empty()).then(|| Answer::ok(&json!(found)))
    }
}

fn none() -> Answer {
    Answer::ok(&json!([]))
}
