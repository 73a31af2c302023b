//! Random weather at Discord's, a bot that drops at random, and what it may say of what it heard.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::client::{Bot, Heard};
use super::{PLAIN, tide};
use crate::discord::{TOKEN, Tide};

/// What a bot heard.
#[derive(Debug, Default)]
struct Diary {
    events: u64,
    readies: u64,
    resumed: u64,
    invalid: u64,
    closed: u64,
}

/// A bot as libraries are: it RESUMEs after any close, and IDENTIFYs after op 9. In a session it misses no number.
fn library(tide: &Tide, ends: &AtomicBool, mut random: u64) -> Diary {
    let mut diary = Diary::default();
    let mut session: Option<(String, u64)> = None;
    let mut number: Option<u64> = None;
    while !ends.load(Ordering::Relaxed) {
        let mut bot = tide.greeted(PLAIN);
        match &session {
            Some((id, seq)) => bot.resume(TOKEN, id, *seq),
            None => bot.identify(TOKEN, &json!({})),
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drops_after = 20 + (random >> 33) % 200;
        for _ in 0..drops_after {
            if ends.load(Ordering::Relaxed) {
                break;
            }
            if bot.is_quiet(20.0) {
                bot.beat();
                continue;
            }
            let value = match bot.next() {
                Heard::Json(value) => value,
                Heard::Close(..) | Heard::Gone => {
                    diary.closed += 1;
                    break;
                }
                Heard::Pong(_) => continue,
            };
            heard(&mut diary, &mut bot, &value, &mut session, &mut number);
        }
    }
    diary
}

fn heard(
    diary: &mut Diary,
    bot: &mut Bot,
    value: &serde_json::Value,
    session: &mut Option<(String, u64)>,
    number: &mut Option<u64>,
) {
    if let (Some((_, seq)), Some(s)) = (session.as_mut(), value["s"].as_u64()) {
        *seq = s;
    }
    match (value["op"].as_u64(), value["t"].as_str()) {
        (Some(9), _) => {
            diary.invalid += 1;
            *session = None;
            bot.identify(TOKEN, &json!({}));
        }
        (_, Some("READY")) => {
            diary.readies += 1;
            *session = Some((value["d"]["session_id"].as_str().unwrap().to_owned(), 1));
            *number = None;
        }
        (_, Some("RESUMED")) => diary.resumed += 1,
        (_, Some("NUMBERED")) => {
            diary.events += 1;
            let came = value["d"]["number"].as_u64().unwrap();
            if let Some(last) = number.replace(came) {
                assert_eq!(came, last + 1, "nothing is missed and nothing comes twice: {diary:?}");
            }
        }
        _ => {}
    }
}

#[test]
fn in_any_weather_a_bot_misses_nothing_and_no_limit_is_stepped_over() {
    // STORM_SEED tells another.
    let seed = std::env::var("STORM_SEED").map_or(7, |seed| seed.parse().expect("a number"));
    let tide = tide("");
    // Commands that Discord would close for are none of this.
    let live = json!(["reconnect", {"invalid": true}, {"close": 1000}, {"close": 4000}, "cut", "cut", "deaf", "beat", "invalid"]);
    let weather =
        json!({"seed": seed, "live_mean_ms": 15_000, "live": live, "connect_permille": 100, "answer_permille": 50});
    tide.control("random", &weather);
    let ends = AtomicBool::new(false);
    let diary = std::thread::scope(|scope| {
        let bot = scope.spawn(|| library(&tide, &ends, seed));
        for number in 0..600_u64 {
            tide.control("dispatch", &json!({"t": "NUMBERED", "d": {"number": number}}));
            tide.pass(0.5);
        }
        ends.store(true, Ordering::Relaxed);
        bot.join().unwrap()
    });
    let total = tide.judged().total;
    assert!(diary.events > 100 && diary.resumed > 0 && diary.closed + diary.invalid > 0, "{diary:?} {total:?}");
    assert!(total.resumed > 0 && total.forced > 5, "{total:?}");
    assert_eq!((total.spacing_violations, total.token_resets), (0, 0), "{total:?}");
    assert!(!total.closes.keys().any(|code| [4002, 4003, 4005, 4008].contains(code)), "{total:?}");
}
