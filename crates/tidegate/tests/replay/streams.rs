//! Agents that write an answer by editing one message: the end must land.

use crate::live::{Seen, Stream, streams};

const GROUP: &str = "telegram";

fn stream(edits: u64, gap: fn(u64) -> u64) -> Stream {
    Stream { message: 1, start: 500, edits, gap, awaits: false, named: false }
}

fn within(seen: &Seen, end_ms: u64) {
    for end in seen.ends() {
        assert!(end.is_some_and(|end| end <= end_ms), "the last text waited {end:?} of {end_ms} ms");
    }
    assert!(seen.most_in_a_minute() <= 18, "{} in a minute", seen.most_in_a_minute());
}

/// No text waits longer than this before it or a newer one is out.
fn no_text_waits_over(seen: &Seen, most_ms: u64) {
    for edit in &seen.edits {
        let waited = edit.out.map(|out| out - edit.asked);
        assert!(waited.is_some_and(|waited| waited <= most_ms), "{edit:?} waited {waited:?}");
    }
}

#[test]
fn ten_edits_a_second_for_twenty_five_seconds() {
    for named in [false, true] {
        let seen = streams(GROUP, &[Stream { named, ..stream(250, |_| 100) }]);
        let previews = seen.tickets.len() - 2;
        assert!(previews >= 7, "{previews} previews");
        within(&seen, 1_200);
    }
}

#[test]
fn an_edit_every_seven_hundred_to_fifteen_hundred_milliseconds() {
    let gaps: [fn(u64) -> u64; 4] = [|_| 700, |_| 1_000, |_| 1_500, |n| 700 + n * 370 % 801];
    for gap in gaps {
        for seconds in [25, 60, 130] {
            let edits = (1..).scan(0, |at, n| {
                *at += gap(n);
                Some(*at)
            });
            let edits = u64::try_from(edits.take_while(|at| *at < seconds * 1_000).count()).unwrap();
            for named in [false, true] {
                let seen = streams(GROUP, &[Stream { named, ..stream(edits, gap) }]);
                no_text_waits_over(&seen, 5_100);
                within(&seen, if named { 1_200 } else { 5_100 });
            }
        }
    }
}

#[test]
fn a_client_that_awaits_each_edit() {
    for gap in [(|_| 50) as fn(u64) -> u64, |_| 300, |_| 900] {
        for edits in [12, 25, 40] {
            for named in [false, true] {
                let seen = streams(GROUP, &[Stream { awaits: true, named, ..stream(edits, gap) }]);
                no_text_waits_over(&seen, 5_100);
                within(&seen, if named { 1_200 } else { 5_100 });
            }
        }
    }
}

#[test]
fn three_streams_at_once_in_one_group() {
    for named in [false, true] {
        let three: Vec<Stream> = (1..=3)
            .map(|message| Stream { message, named, start: 500 + message * 30, ..stream(250, |_| 100) })
            .collect();
        within(&streams(GROUP, &three), 1_200);
    }
}

/// Wherever between two previews a stream ends, also just behind one, its last text is out soon.
#[test]
fn a_stream_may_end_at_any_moment() {
    for edits in 208..224 {
        within(&streams(GROUP, &[stream(edits, |_| 100)]), 1_200);
    }
}
