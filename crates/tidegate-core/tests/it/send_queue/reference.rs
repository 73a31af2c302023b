//! A naive send queue: it keeps all that was ever sent, looks through it every millisecond, and knows no deadline.

use tidegate_core::send_queue::Settings;

/// What a plan does at a moment.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Command(u8),
    Members(u8, bool),
    Subscribe(u8, usize),
    Direct,
    RateLimited(u8, u64),
    Closed(u16),
    Opened,
    Ready,
    Tick,
}

struct Sent {
    at: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Direct,
    Command,
    Map,
}

#[derive(Clone)]
struct Waiting {
    id: u64,
    presence: bool,
    all_of: Option<u8>,
    since: u64,
}

/// One guild's lane of requests for all members.
#[derive(Clone, Copy, Default)]
struct Lane {
    not_before: u64,
    sent: Option<(u64, u64)>,
}

/// Moments in milliseconds.
pub(crate) struct Reference {
    settings: Settings,
    period: u64,
    connected: Option<bool>,
    gap: u64,
    sent: Vec<Sent>,
    presences: Vec<u64>,
    lanes: [Lane; 256],
    waiting: Vec<Waiting>,
    map: Vec<(u8, u64, usize)>,
    changed: u64,
    subscribed: Vec<(u64, u8)>,
    level: u64,
    pub(crate) out: Vec<String>,
}

impl Reference {
    pub(crate) fn new(settings: Settings) -> Self {
        let period = settings.period.as_micros() / 1_000;
        Self {
            level: u64::from(settings.settle_burst) * period * 5,
            settings,
            period,
            connected: Some(true),
            gap: 0,
            sent: Vec::new(),
            presences: Vec::new(),
            lanes: [Lane::default(); 256],
            waiting: Vec::new(),
            map: Vec::new(),
            changed: 0,
            subscribed: Vec::new(),
            out: Vec::new(),
        }
    }

    /// A millisecond that nothing came in.
    pub(crate) fn millisecond(&mut self, at: u64) {
        if at > 0 {
            let commands = self.standing(at - 1, |kind| kind == Kind::Command);
            let rate = u64::from(self.settings.subscription_limit).saturating_sub(commands);
            let full = u64::from(self.settings.settle_burst) * self.period * 5;
            self.level = (self.level + 3 * rate).min(full);
        }
        self.expire(at);
        self.look(at);
    }

    pub(crate) fn act(&mut self, at: u64, id: u64, act: &Act) {
        match act {
            Act::Command(op) => self.push(at, Waiting { id, presence: *op == 3, all_of: None, since: at }),
            Act::Members(guild, all) => {
                self.push(at, Waiting { id, presence: false, all_of: all.then_some(*guild), since: at });
            }
            Act::Subscribe(guild, bytes) => self.subscribe(at, id, *guild, *bytes),
            Act::Direct => self.direct(at),
            Act::RateLimited(guild, ms) => {
                let lane = &mut self.lanes[usize::from(*guild)];
                let known = lane.sent.filter(|(_, sent)| sent + 300_000 > at);
                lane.not_before = if known.is_some() { at + ms } else { lane.not_before.max(at + ms) };
                lane.sent = None;
                if let Some((id, _)) = known {
                    self.waiting.insert(0, Waiting { id, presence: false, all_of: Some(*guild), since: at });
                }
            }
            Act::Closed(code) => {
                self.end(at, None);
                if *code == 4008 {
                    self.waiting.drain(..).for_each(|w| self.out.push(format!("{at} dropped {} After4008", w.id)));
                }
            }
            Act::Opened => {
                self.end(at, Some(false));
                self.sent.clear();
                self.subscribed.clear();
            }
            Act::Ready => self.connected = Some(true),
            Act::Tick => {}
        }
        self.look(at);
    }

    fn end(&mut self, at: u64, now: Option<bool>) {
        if self.connected == Some(true) {
            self.gap = at;
        }
        self.connected = now;
    }

    fn push(&mut self, at: u64, new: Waiting) {
        if let Some(older) = self.waiting.iter_mut().find(|older| new.presence && older.presence) {
            self.out.push(format!("{at} dropped {} Superseded", older.id));
            *older = new;
            return;
        }
        let id = new.id;
        self.waiting.push(new);
        self.look(at);
        if self.waiting.len() > self.settings.queue_bound && self.waiting.last().is_some_and(|last| last.id == id) {
            self.waiting.pop();
            self.out.push(format!("{at} refused {id} QueueFull"));
        }
    }

    fn subscribe(&mut self, at: u64, id: u64, guild: u8, bytes: usize) {
        if 34 + bytes > self.settings.max_payload {
            self.out.push(format!("{at} refused g{guild} TooLarge"));
            return;
        }
        self.changed = at;
        match self.map.iter_mut().find(|(older, ..)| *older == guild) {
            Some(older) => *older = (guild, id, bytes),
            None => self.map.push((guild, id, bytes)),
        }
    }

    fn direct(&mut self, at: u64) {
        if self.connected.is_none() {
        } else if self.standing(at, |_| true) < u64::from(self.settings.platform_limit) {
            self.sent.push(Sent { at, kind: Kind::Direct });
        } else {
            self.out.push(format!("{at} close"));
            self.end(at, None);
        }
    }

    fn standing(&self, at: u64, of: impl Fn(Kind) -> bool) -> u64 {
        self.sent.iter().filter(|sent| of(sent.kind) && sent.at <= at && sent.at + self.period > at).count() as u64
    }

    fn expire(&mut self, at: u64) {
        if self.connected != Some(true) {
            let gap = self.gap;
            let (gone, left) = self.waiting.drain(..).partition(|waiting| waiting.since.max(gap) + 60_000 <= at);
            self.waiting = left;
            let gone: Vec<Waiting> = gone;
            self.out.extend(gone.iter().map(|waiting| format!("{at} dropped {} Expired", waiting.id)));
        }
    }

    fn look(&mut self, at: u64) {
        while self.connected == Some(true) && (self.look_at_commands(at) || self.look_at_map(at)) {}
    }

    fn room(&self, at: u64) -> bool {
        self.standing(at, |_| true) < u64::from(self.settings.platform_limit)
            && self.standing(at, |kind| kind != Kind::Direct) < u64::from(self.settings.queued_limit)
    }

    fn look_at_commands(&mut self, at: u64) -> bool {
        let presences = self.presences.iter().filter(|sent| **sent + self.period > at).count();
        let free = |waiting: &Waiting| {
            (!waiting.presence || presences < self.settings.presence_limit as usize)
                && waiting.all_of.is_none_or(|guild| self.lanes[usize::from(guild)].not_before <= at)
        };
        let Some(next) = self.waiting.iter().position(free).filter(|_| self.room(at)) else { return false };
        let sent = self.waiting.remove(next);
        if sent.presence {
            self.presences.push(at);
        }
        if let Some(guild) = sent.all_of {
            self.lanes[usize::from(guild)] = Lane { not_before: at + 30_000, sent: Some((sent.id, at)) };
        }
        self.sent.push(Sent { at, kind: Kind::Command });
        self.out.push(format!("{at} send {}", sent.id));
        true
    }

    fn look_at_map(&mut self, at: u64) -> bool {
        let (n, limit) = (self.standing(at, |kind| kind != Kind::Direct), u64::from(self.settings.subscription_limit));
        if self.map.is_empty() || n >= limit || !self.room(at) {
            return false;
        }
        let maps = self.standing(at, |kind| kind == Kind::Map);
        let last = self.sent.iter().filter(|sent| sent.kind == Kind::Map).map(|sent| sent.at).max();
        let spaced = last.is_none_or(|last| (at - last) * (limit - n) >= self.period);
        let known = |guild: u8| self.subscribed.iter().any(|(sent, of)| *of == guild && sent + self.period > at);
        let new = self.map.iter().any(|(guild, ..)| !known(*guild));
        let settle = self.settings.settle.as_micros() / 1_000;
        let unit = 5 * self.period;
        let at_rest = settle > 0 && at >= self.changed + settle && self.level >= unit;
        if !(maps < u64::from(self.settings.burst) || spaced || new) {
            if !at_rest {
                return false;
            }
            self.level -= unit;
        }
        let (mut bytes, mut text) = (33, String::new());
        while let Some((guild, id, own)) =
            self.map.first().copied().filter(|(.., own)| bytes + own < self.settings.max_payload)
        {
            bytes += own + 1;
            self.map.remove(0);
            self.subscribed.push((at, guild));
            text.extend([" g", &guild.to_string(), "=", &id.to_string()]);
        }
        self.sent.push(Sent { at, kind: Kind::Map });
        self.out.push(format!("{at} map{text}"));
        true
    }
}
