//! Bad days that users of other software had, each with tidegate and without.

use tidegate_core::{Span, Time};

use super::day::day;
use super::discord::Figures;
use super::naive::Faults;
use super::weather::Weather;

/// One of them.
struct Storm {
    name: &'static str,
    weather: Weather,
    faults: Faults,
}

/// Their weather and their bots.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = (Weather, Faults)> {
    storms().into_iter().map(|storm| (storm.weather, storm.faults))
}

/// Where the case comes from is in docs/cases.md.
fn storms() -> [Storm; 10] {
    let secs = Span::from_secs;
    let flat = Faults::FLAT;
    [
        Storm {
            name: "D1: RESUME fails, IDENTIFY works, the session ends after 3 s",
            weather: Weather::EndsSessions { after: secs(3) },
            faults: Faults { resumes: true, invalid_wait: secs(5), ..flat },
        },
        Storm {
            name: "D2: closed 55 s after READY, dialled again at once",
            weather: Weather::EndsConnections { after: secs(55) },
            faults: Faults { wait: Span::ZERO, ..flat },
        },
        Storm {
            name: "the same, and the session is gone each time",
            weather: Weather::EndsSessions { after: secs(55) },
            faults: Faults { wait: Span::ZERO, ..flat },
        },
        Storm {
            name: "D15: no HELLO for 22 h, dialled every second",
            weather: Weather::NoHello,
            faults: Faults { resumes: true, ..flat },
        },
        Storm {
            name: "D18: the resume address is dead, dialled every second",
            weather: Weather::DeadResumeUrl,
            faults: Faults { resumes: true, ..flat },
        },
        Storm {
            name: "D20: one op 7; the old socket's late close stops the new one's heartbeat",
            weather: Weather::Reconnects { times: 1, closes: false },
            faults: Faults { shares_timers: true, closes_twice: true, ..flat },
        },
        Storm {
            name: "D24: three times op 7 and a close; each dials",
            weather: Weather::Reconnects { times: 3, closes: true },
            faults: Faults { resumes: true, dials_per_close: true, ..flat },
        },
        Storm {
            name: "D27: network away for a minute, dialled 2,500 times a second",
            weather: Weather::Away,
            faults: Faults { resumes: true, wait: Span::from_micros(400), ..flat },
        },
        Storm {
            name: "a storm of 276,379 connections in a day when it happened: shared timers, a dial per close, IDENTIFY every time; \
                   five times op 7",
            weather: Weather::Reconnects { times: 5, closes: false },
            faults: Faults { wait: secs(5), stops_at_4004: false, shares_timers: true, dials_per_close: true, ..flat },
        },
        Storm {
            name: "a bot that crashes a second after each READY and IDENTIFYs otherwise each time",
            weather: Weather::Fine,
            faults: Faults { crashes_after: Some(secs(1)), gives_up_after: Some(secs(15)), ..flat },
        },
    ]
}

const HEAD: &str = "\
| day | | connections to Discord | IDENTIFY | RESUME | token reset after | without a session | the bot's own dials |
|---|---|--:|--:|--:|--:|--:|--:|";

/// What is printed, and stands in docs/storms.md: a row at a time, for a day takes a while.
pub(crate) fn table(hours: u64, seed: u64, mut row: impl FnMut(&str)) {
    row(HEAD);
    for storm in storms() {
        for with_tidegate in [false, true] {
            let (figures, dials) = day(storm.weather, storm.faults, with_tidegate, hours, seed);
            let name = if with_tidegate { "" } else { storm.name };
            row(&line(name, with_tidegate, &figures, dials));
        }
    }
}

fn line(name: &str, with_tidegate: bool, figures: &Figures, dials: u64) -> String {
    let how = if with_tidegate { "tidegate" } else { "alone" };
    let reset = figures.token_reset.map_or_else(|| "never".to_owned(), |at| span(at.since(Time::ZERO)));
    format!(
        "| {name} | {how} | {} | {} | {} | {reset} | {} | {} |",
        thousands(figures.dials),
        thousands(figures.identifies),
        thousands(figures.resumes),
        span(figures.down),
        thousands(dials),
    )
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In the unit that a person would take.
pub(super) fn span(span: Span) -> String {
    let ms = span.as_micros() / 1_000;
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match () {
        () if ms < 10_000 => format!("{}.{} s", seconds, ms % 1_000 / 100),
        () if seconds < 600 => format!("{seconds} s"),
        () if minutes < 600 => format!("{minutes} min"),
        () => format!("{}.{} h", minutes / 60, minutes % 60 / 6),
    }
}
