//! Weather that nobody foresees; the seed tells it again.

use std::time::Duration;

use serde_json::{Map, Value};

use super::conn::{ConnId, Todo};
use super::model::Model;
use super::session::mix;
use super::weather::{Act, Moment};

/// Random weather.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// The same seed and the same inputs give the same weather.
    pub seed: u64,
    /// How long a live connection lasts until something of `live` happens to it, on average; zero is never.
    pub live_mean: Duration,
    /// What happens to live connections, each as likely as the next.
    pub live: Vec<Act>,
    /// Of a thousand connections asked for, so many meet something of `connect`.
    pub connect_permille: u32,
    /// What happens in place of HELLO.
    pub connect: Vec<Act>,
    /// Of a thousand IDENTIFYs and RESUMEs, so many meet something of `answer`.
    pub answer_permille: u32,
    /// What happens in place of an answer.
    pub answer: Vec<Act>,
    drawn: u64,
}

impl Random {
    /// No weather at all.
    pub fn new(seed: u64) -> Self {
        let refuse = |status| Act::Refuse { status, body: "no healthy upstream".into() };
        let close = |code| Act::Close { code, twice: false };
        let delay = |secs| Act::Delay(Duration::from_secs(secs));
        Self {
            seed,
            live_mean: Duration::ZERO,
            live: vec![
                Act::Reconnect,
                Act::Invalid { resumable: true },
                Act::Invalid { resumable: false },
                close(1000),
                close(1001),
                close(1005),
                close(4000),
                Act::Close { code: 4000, twice: true },
                Act::Cut,
                Act::Cut,
                Act::Silence,
                Act::Deaf,
                Act::Freeze,
                Act::Beat,
            ],
            connect_permille: 0,
            connect: vec![refuse(502), refuse(503), refuse(429), Act::Reconnect, Act::Silence, Act::Cut, delay(10)],
            answer_permille: 0,
            answer: vec![
                Act::Invalid { resumable: false },
                Act::Invalid { resumable: true },
                close(1000),
                close(4000),
                Act::Cut,
                Act::Reconnect,
                delay(3),
                delay(20),
            ],
            drawn: 0,
        }
    }

    /// Reads it from JSON; the error says what was expected.
    ///
    /// `{"seed":1,"live_mean_ms":0,"live":[…],"connect_permille":0,"connect":[…],"answer_permille":0,"answer":[…]}`,
    /// each of which may be left out.
    pub(crate) fn from_json(fields: &Map<String, Value>) -> Result<Self, String> {
        let number = |name: &str| match fields.get(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(format!("{name:?} is a whole number of at least 0")),
        };
        let mut random = Self::new(number("seed")?.unwrap_or(1));
        random.live_mean = Duration::from_millis(number("live_mean_ms")?.unwrap_or(0));
        let permille =
            |name: &str| Ok::<_, String>(u32::try_from(number(name)?.unwrap_or(0)).unwrap_or(1000).min(1000));
        random.connect_permille = permille("connect_permille")?;
        random.answer_permille = permille("answer_permille")?;
        for (name, acts) in
            [("live", &mut random.live), ("connect", &mut random.connect), ("answer", &mut random.answer)]
        {
            if let Some(listed) = fields.get(name) {
                let listed = listed.as_array().filter(|listed| listed.len() <= 100);
                let listed = listed.ok_or_else(|| format!("{name:?} is a list of at most 100"))?;
                *acts = listed.iter().map(Act::from_json).collect::<Result<_, _>>()?;
            }
        }
        Ok(random)
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed ^ self.drawn.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// Over 0, up to 1.
    #[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
    fn fraction(&mut self) -> f64 {
        ((self.draw() >> 32) + 1) as f64 / 4_294_967_296.0
    }

    fn chance(&mut self, permille: u32) -> bool {
        permille > 0 && self.draw() % 1000 < u64::from(permille)
    }

    fn one_of(&mut self, acts: fn(&Self) -> &Vec<Act>) -> Option<Act> {
        let drawn = self.draw();
        let acts = acts(self);
        let index = usize::try_from(drawn % (acts.len().max(1) as u64)).unwrap_or(0);
        acts.get(index).cloned()
    }
}

impl Model {
    /// Sets the random weather, for connections that live already too; it is over with one that has no chances.
    pub fn random(&mut self, random: Random) {
        self.random = random;
        self.random_turn += 1;
        let live: Vec<ConnId> = self.sessions.values().filter_map(|session| session.conn).collect();
        for conn in live {
            self.random_fate(conn);
        }
    }

    /// What random weather does at a moment, and when.
    pub(crate) fn random_at(&mut self, on: Moment) -> Option<(Duration, Act)> {
        let random = &mut self.random;
        match on {
            Moment::Connect if random.chance(random.connect_permille) => {
                Some((Duration::ZERO, random.one_of(|it| &it.connect)?))
            }
            Moment::Identify | Moment::Resume if random.chance(random.answer_permille) => {
                Some((Duration::ZERO, random.one_of(|it| &it.answer)?))
            }
            _ => None,
        }
    }

    /// A connection lives: when does random weather meet it?
    pub(crate) fn random_fate(&mut self, conn: ConnId) {
        let random = &mut self.random;
        if random.live_mean.is_zero() {
            return;
        }
        let means = (-random.fraction().ln()).clamp(0.001, 20.0);
        let after = Duration::try_from_secs_f64(random.live_mean.as_secs_f64() * means).unwrap_or(Duration::MAX);
        if let Some(act) = random.one_of(|it| &it.live) {
            let turn = self.random_turn;
            self.later(conn, after, Todo::Fate { act, turn });
        }
    }
}
