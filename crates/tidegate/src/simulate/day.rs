//! A day in virtual time: a bot and Discord, with tidegate between them or without.

use tidegate_core::Time;
use tidegate_core::bot::ShardKey;
use tidegate_core::identify_queue::SessionStartLimit;
use tidegate_sandbox::discord::Gateway;

use super::discord::{Discord, Figures};
use super::naive::{Faults, Naive};
use super::net::{Agenda, Distances, Event, Sock};
use super::tide::{REFRESH, Tide};
use super::weather::Weather;

/// All that there is of a simulation.
pub(super) struct World {
    pub(super) agenda: Agenda,
    pub(super) discord: Discord,
    pub(super) tide: Option<Tide>,
    pub(super) bot: Option<Naive>,
}

impl World {
    /// What happens next, at the moment at which it does; whether there was anything until `end`.
    pub(super) fn step(&mut self, end: Time) -> bool {
        let agenda = self.agenda.next_at();
        let discord = self.discord.next_at();
        let tide = self.tide.as_ref().and_then(Tide::next_at);
        let Some(at) = agenda.into_iter().chain(discord).chain(tide).min().filter(|at| *at <= end) else {
            self.agenda.now = end;
            return false;
        };
        self.agenda.now = self.agenda.now.max(at);
        if tide.is_some_and(|due| due <= at) {
            if let Some(tide) = &mut self.tide {
                tide.tick(&mut self.agenda);
            }
        } else if discord.is_some_and(|due| due <= at) {
            self.discord.tick(&mut self.agenda);
        } else if let Some(event) = self.agenda.pop() {
            self.happen(event);
        }
        true
    }

    fn happen(&mut self, event: Event) {
        let agenda = &mut self.agenda;
        match event {
            Event::AtDiscord(sock, up) => self.discord.hear(agenda, sock, &up),
            Event::Weather(sock, blow) => self.discord.blow(agenda, sock, blow),
            Event::AtTide(sock, up) => {
                if let Some(tide) = &mut self.tide {
                    tide.bot(agenda, sock, &up);
                }
            }
            Event::Heard(Sock::Bot(sock), down) => {
                if let Some(bot) = &mut self.bot {
                    bot.hear(agenda, sock, down);
                }
            }
            Event::Heard(Sock::Tide(key, generation), down) => {
                if let Some(tide) = &mut self.tide {
                    tide.hear(agenda, key, generation, down);
                }
            }
            Event::BotTimer(timer) => {
                if let Some(bot) = &mut self.bot {
                    bot.timer(agenda, timer);
                }
            }
            Event::Refresh => {
                let limit = self.discord.gateway_bot(agenda.now);
                if let Some(tide) = &mut self.tide {
                    tide.refreshed(agenda, limit);
                    agenda.after(REFRESH, Event::Refresh);
                }
            }
        }
    }
}

/// What Discord grants a bot, all of it there and the next day a day away.
pub(super) fn start_of(total: u32, max_concurrency: u32, shards: u32) -> Gateway {
    Gateway { shards, total, remaining: total, reset_after_ms: 86_400_000, max_concurrency, ..Gateway::default() }
}

pub(super) fn limit_of(start: &Gateway) -> SessionStartLimit {
    SessionStartLimit {
        max_concurrency: start.max_concurrency.into(),
        remaining: start.remaining.into(),
        reset_at: Time::from_millis(start.reset_after_ms),
    }
}

/// A bot's day: Discord's figures, and how often the bot dialled.
pub(super) fn day(weather: Weather, faults: Faults, with_tidegate: bool, hours: u64, seed: u64) -> (Figures, u64) {
    let start = start_of(1_000, 1, 1);
    let tide = with_tidegate.then(|| Tide::new(Tide::settings(1_000, 1), limit_of(&start), false, seed));
    let mut world = World {
        agenda: Agenda::new(Distances::default(), weather),
        discord: Discord::new(start, weather),
        tide,
        bot: Some(Naive::new(faults, with_tidegate)),
    };
    if let Some(bot) = &mut world.bot {
        bot.start(&mut world.agenda);
    }
    world.agenda.after(REFRESH, Event::Refresh);
    let end = Time::from_millis(hours * 3_600_000);
    while world.step(end) {}
    (world.discord.figures(&world.agenda), world.bot.map_or(0, |bot| bot.dials))
}

/// The key of shard `id`.
pub(super) fn key(id: u32, count: u32) -> ShardKey {
    ShardKey { id, count }
}
