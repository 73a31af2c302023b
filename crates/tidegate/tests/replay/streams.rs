//! Agents that write an answer by editing one message: the end must land.

use crate::live::{Seen, Stream, streams};

const GROUP: &str = "telegram";
/// The hold of python-telegram-bot at its defaults.
const SHORT_HOLD_MS: u64 = 4_000;

fn stream(edits: u64, gap: fn(u64) -> u64) -> Stream {
    Stream::new(1, edits, gap)
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
        assert!(previews >= 9, "{previews} previews");
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
                no_text_waits_over(&seen, 8_000);
                within(&seen, if named { 1_200 } else { 8_000 });
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
                no_text_waits_over(&seen, 8_000);
                within(&seen, if named { 1_200 } else { 8_000 });
            }
        }
    }
}

#[test]
fn a_group_at_rest_takes_the_first_five_awaited_edits_within_six_seconds() {
    let seen = streams(GROUP, &[Stream { awaits: true, ..stream(5, |_| 50) }]);
    let last = seen.sent.last().unwrap();
    assert!(seen.sent.len() == 6 && last.1 <= 500 + 6_000, "{:?}", seen.sent);
}

/// Our own pacing never refuses: what it alone keeps back goes as its hold ends.
#[test]
fn a_client_with_a_short_hold_that_awaits_each_write_is_never_refused() {
    type Gap = fn(u64) -> u64;
    let gaps: [(Gap, u64); 3] = [(|_| 50, 50), (|_| 300, 300), (|_| 900, 900)];
    for (gap, gap_ms) in gaps {
        for hold_ms in [1_000, SHORT_HOLD_MS] {
            let client = Stream { awaits: true, sends: 5, hold_ms: Some(hold_ms), ..stream(15, gap) };
            let seen = streams(GROUP, &[client]);
            assert_eq!(seen.refused, 0, "with {hold_ms} ms, of {} in {:?}", seen.sent.len(), seen.sent);
            assert_eq!(seen.sent.len(), 16);
            let last = seen.sent.last().unwrap();
            // It thinks for a while before each of its writes.
            assert!(last.0 <= 500 + 41_000 + 15 * gap_ms, "{:?}", seen.sent);
            assert!(seen.most_in_a_minute() <= 18, "{:?}", seen.sent);
        }
    }
}

#[test]
fn three_streams_at_once_in_one_group() {
    for (named, hold_ms) in [(false, None), (true, None), (false, Some(SHORT_HOLD_MS)), (true, Some(SHORT_HOLD_MS))] {
        let three: Vec<Stream> = (1..=3)
            .map(|message| Stream { named, hold_ms, start: 500 + message * 30, ..Stream::new(message, 250, |_| 100) })
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
