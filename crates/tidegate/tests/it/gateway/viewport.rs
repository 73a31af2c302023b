//! A client that scrolls without end, over real sockets: the send queue's own figures, as Discord sees them.
//!
//! Five minutes of platform time; `TIDEGATE_SCALE=1` takes them in real time and holds the figures to within one frame,
//! which timers of a busy machine do not allow at a fifth of that.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tidegate_sandbox::discord::gateway::GatewayEntry;

use crate::discord::Tide;
use crate::fake::until;

const CHANGES: u32 = 30_000;
const SUBSCRIBE: u8 = 37;
const PRESENCE: u8 = 3;

#[test]
fn five_minutes_of_scrolling_leave_as_the_send_queue_says() {
    let scale: f64 = std::env::var("TIDEGATE_SCALE").map_or(0.2, |scale| scale.parse().unwrap());
    let tolerance = if scale < 1.0 { 3 } else { 1 };
    let tide = Tide::paced(scale, "[discord.gateway.send]\nsettle = \"0s\"\npresence_limit = 0\n");
    let mut bot = tide.live().bot;
    let began = Instant::now();
    for n in 0..CHANGES {
        let due = began + Duration::from_millis(10).mul_f64(scale) * n;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if n % 1000 == 0 {
            bot.say(&json!({"op": PRESENCE, "d": {"status": "online", "activities": [], "afk": false, "since": n}}));
        }
        bot.say(&json!({"op": SUBSCRIBE, "d": {"subscriptions": {"1": {"channels": {"2": [[0, n]]}}}}}));
        if n % 4000 == 3999 {
            bot.beat();
        }
    }
    let frames = |op: u8| -> Vec<GatewayEntry> {
        let of_op = |entry: &&GatewayEntry| entry.what == "frame" && entry.op == Some(op);
        tide.discord.with(|model| model.gateway().log().filter(of_op).copied().collect())
    };
    let last = frames(PRESENCE).last().unwrap().at_ms + 9_990;
    until("the final viewport is there", || frames(SUBSCRIBE).last().is_some_and(|entry| entry.at_ms + 50 >= last));
    thread::sleep(Duration::from_secs(3).mul_f64(scale));
    let (subscribed, presences) = (frames(SUBSCRIBE), frames(PRESENCE));
    let first = subscribed.first().unwrap().at_ms;
    let within = subscribed.iter().filter(|entry| entry.at_ms < first + 300_000).count();
    let last_minute =
        subscribed.iter().filter(|entry| (first + 240_000..first + 300_000).contains(&entry.at_ms)).count();
    println!("{within} in all, {last_minute} in the last minute, {} presences", presences.len());
    assert!(within.abs_diff(200) <= tolerance, "{within} frames");
    assert!(last_minute.abs_diff(37) <= 1.max(tolerance / 2), "{last_minute} in the last minute");
    assert_eq!(presences.len(), 30, "never a command waiting");
    let stats = tide.judged();
    let connection = stats.open.first().unwrap();
    assert!(connection.worst_minute_queued <= 58 && connection.worst_minute_subscriptions <= 52, "{connection:?}");
    assert!(stats.total.closes.is_empty(), "{:?}", stats.total.closes);
    // The last change was sent at the end, so its frame is the last and comes soon.
    let end = subscribed.last().unwrap().at_ms;
    assert!(end <= first + 300_000 + 2_000, "the final viewport left {} ms after the first", end - first);
}
