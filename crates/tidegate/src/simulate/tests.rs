use std::time::Duration;

use expect_test::expect_file;
use tidegate_core::Time;

use super::day::{World, day, key, limit_of, start_of};
use super::discord::Discord;
use super::naive::Faults;
use super::net::{Agenda, Distances};
use super::tide::Tide;
use super::weather::Weather;
use super::*;

const PAGE: &str = "../../../../docs/storms.md";
const BEGINS: &str = "<!-- tidegate simulate storms -->\n";
const ENDS: &str = "<!-- end -->\n";

/// A bot that crashes a second after each READY, and whose IDENTIFY is another each time.
const CRASHES: Faults =
    Faults { crashes_after: Some(Span::from_secs(1)), gives_up_after: Some(Span::from_secs(15)), ..Faults::FLAT };

#[test]
fn the_page_shows_what_the_simulation_prints() {
    let page = include_str!("../../../../docs/storms.md");
    let (before, rest) = page.split_once(BEGINS).expect("where the table begins");
    let (_, after) = rest.split_once(ENDS).expect("where the table ends");
    let mut table = String::new();
    storms::table(24, 1, |row| table = std::mem::take(&mut table) + row + "\n");
    expect_file![PAGE].assert_eq(&format!("{before}{BEGINS}{table}{ENDS}{after}"));
}

#[test]
fn two_thousand_shards_are_there_within_a_hundredth_of_what_discord_allows() {
    let start = Start { shards: 2_048, max_concurrency: 16, dial: Span::from_millis(200), jitter: Span::ZERO, seed: 1 };
    let started = start.run();
    assert_eq!((started.ready.len(), started.identifies, started.too_soon), (2_048, 2_048, 0));
    let (took, least) = (started.ready.last().unwrap().as_micros(), start.least().as_micros());
    assert_eq!(least, 635_250_000, "127 turns of 5 s and one handshake");
    assert!((least..least + least / 100).contains(&took), "{took} µs");
}

#[test]
fn a_slow_dial_costs_no_turn() {
    // With 3 s a shard that dials early is there just in time; one that dials on its grant would cost each turn 3 s.
    let start = Start { shards: 64, max_concurrency: 4, dial: Span::from_millis(2_900), jitter: Span::ZERO, seed: 7 };
    let started = start.run();
    let (took, least) = (started.ready.last().unwrap().as_micros(), start.least().as_micros());
    assert!((least..least + least / 100).contains(&took), "{took} µs, at least {least}");
    assert_eq!((started.ready.len(), started.too_soon), (64, 0));
}

/// The margin on the spacing is for this: words of two shards do not take equally long on their way.
#[test]
fn a_network_that_jitters_brings_no_two_identifies_too_close() {
    let jitter = Span::from_millis(24);
    let start = Start { shards: 256, max_concurrency: 4, dial: Span::from_millis(200), jitter, seed: 1 };
    let started = start.run();
    assert_eq!((started.ready.len(), started.identifies, started.too_soon), (256, 256, 0));
    let wild = Start { jitter: Span::from_millis(500), ..start }.run();
    assert!(wild.too_soon > 0, "the judge would have seen it");
}

/// A bot that is resharded: both counts are there side by side, and Discord sends all of them away three times.
#[test]
fn two_counts_side_by_side_come_up_and_come_back() {
    let weather = Weather::Reconnects { times: 3, closes: true };
    let start = start_of(1_000, 2, 16);
    let mut tide = Tide::new(Tide::settings(1_000, 24), limit_of(&start), true, 5);
    let mut agenda = Agenda::new(Distances::default(), weather);
    for count in [8, 16] {
        for id in 0..count {
            tide.open(&mut agenda, key(id, count));
            tide.start(&mut agenda, key(id, count));
        }
    }
    let mut world = World { agenda, discord: Discord::new(start, weather), tide: Some(tide), bot: None };
    let end = Time::from_millis(7_200_000);
    while world.step(end) {}
    assert_eq!(world.discord.live(), 24);
    let figures = world.discord.figures(&world.agenda);
    assert_eq!((figures.identifies, figures.resumes, figures.too_soon), (24, 3 * 24, 0), "{figures:?}");
    assert_eq!(figures.dials, 4 * 24, "{figures:?}");
}

#[test]
fn a_bot_in_a_tight_loop_loses_its_token_alone_and_keeps_it_behind_tidegate() {
    let (alone, _) = day(Weather::Fine, CRASHES, false, 24, 3);
    let (behind, dials) = day(Weather::Fine, CRASHES, true, 24, 3);
    assert!(alone.token_reset.is_some_and(|at| at < Time::from_millis(3_600_000)), "{alone:?}");
    assert_eq!(behind.token_reset, None);
    assert!((20..=200).contains(&behind.identifies), "{behind:?}");
    assert_eq!(behind.too_soon, 0);
    assert!(dials > 1_000, "the bot went on all day: {dials} dials");
}

/// D2: RESUMEs cost no session start, and there is one a minute at most.
#[test]
fn e12_a_session_that_is_cut_every_55_s_is_away_for_two_hours_of_the_day() {
    let weather = Weather::EndsConnections { after: Span::from_secs(55) };
    for seed in 1..5 {
        let (behind, _) = day(weather, Faults { wait: Span::ZERO, ..Faults::FLAT }, true, 24, seed);
        assert_eq!((behind.identifies, behind.token_reset), (1, None), "{behind:?}");
        assert!(behind.resumes <= 1_440 && behind.down <= Span::from_secs(22 * 360), "{behind:?}");
    }
}

#[test]
fn no_storm_spends_over_200_starts_behind_tidegate_whatever_the_seed() {
    for seed in 2..5 {
        for (weather, faults) in storms::all() {
            let (behind, _) = day(weather, faults, true, 24, seed);
            assert!(behind.token_reset.is_none() && behind.identifies <= 200, "{weather:?} {faults:?}: {behind:?}");
            assert_eq!(behind.too_soon, 0, "{weather:?} {faults:?}");
        }
    }
}

#[test]
fn durations_are_milliseconds_or_seconds() {
    for (text, span) in
        [("200ms", Some(Span::from_millis(200))), ("2s", Some(Span::from_secs(2))), ("0ms", Some(Span::ZERO))]
    {
        assert_eq!(duration(text).ok(), span, "{text}");
    }
    for text in ["", "s", "200", "31s", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615s"] {
        assert!(duration(text).is_err(), "{text}");
    }
}

#[test]
fn spans_are_told_in_the_unit_that_a_person_would_take() {
    let told = |ms| storms::span(Span::from(Duration::from_millis(ms)));
    let all = [0, 450, 9_999, 10_000, 599_000, 600_000, 35_999_000, 36_000_000, 86_400_000].map(told);
    assert_eq!(all, ["0.0 s", "0.4 s", "9.9 s", "10 s", "599 s", "10 min", "599 min", "10.0 h", "24.0 h"]);
}

#[test]
fn simulated_sessions_have_the_programs_own_times() {
    let config = crate::config::Config::new(&crate::config::Layers::defaults()).unwrap();
    assert_eq!(super::guests::TIMES, tidegate_gateway::parts::Times::from(&config.gateway));
}
