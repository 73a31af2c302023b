//! What went wrong for users of other software, where the send queue is what prevents it.

use serde_json::json;

use super::{run, worst_minute};

/// Beats every 41.25 s beside 500 requests: the requests wait, the beats never.
#[test]
fn d46_d47_beats_never_starve() {
    let beats = (0..8).fold(String::new(), |text, beat| format!("{text}{} direct 1\n", 1 + beat * 41_250));
    let new = json!({ "queue_bound": 500, "run_until": 400_000 });
    let outputs = run(&new, &format!("0 command 1-500 8\n{beats}"));
    let ids: Vec<u64> = outputs.iter().map(|out| out.command.expect("nothing but the requests")).collect();
    assert_eq!(ids, (1..=500).collect::<Vec<_>>(), "each once, in order, and no beat closed the connection");
    let beats = (0..8).map(|beat| 1 + beat * 41_250);
    assert!(worst_minute(outputs.iter().map(|out| out.at).chain(beats).collect()) <= 120);
}

/// The queue goes on as soon as the oldest frame is a minute old, not a minute after it was full.
#[test]
fn d48_a_full_queue_waits_no_longer_than_it_must() {
    let trace = (0..100).fold(String::new(), |text, id| format!("{text}{} command {id}\n", id * 100));
    let outputs = run(&json!({ "run_until": 90_000 }), &(trace + "10000 command 100-102"));
    let last: Vec<(u64, Option<u64>)> = outputs[100..].iter().map(|out| (out.at, out.command)).collect();
    assert_eq!(last, [(60_000, Some(100)), (60_100, Some(101)), (60_200, Some(102))]);
}

#[test]
fn d49_a_new_connection_has_a_fresh_minute() {
    let outputs = run(&json!({}), "0 command 1-150\n10 closed 1006\n20 opened\n20 direct 6\n30 ready");
    assert_eq!(outputs.iter().filter(|out| out.at == 30).count(), 50);
}
