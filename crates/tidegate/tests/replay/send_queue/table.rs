//! The figures that the send queue is held to, settling off.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};

use super::{Out, check, run, worst_minute};

/// One guild's viewport moves every 10 ms until `end`; a presence command comes every `every` ms.
fn scroll(end: u64, every: u64, auto: bool) -> Vec<Out> {
    let mut trace = String::new();
    for at in (0..end).step_by(10) {
        if at % every == 0 {
            writeln!(trace, "{at} command {at} 3").unwrap();
        }
        writeln!(trace, "{at} subscribe g {at}").unwrap();
    }
    for at in (end..end + 70_000).step_by(10).filter(|_| !auto) {
        writeln!(trace, "{at} tick").unwrap();
    }
    run(&json!({ "settle_ms": 0, "presence_limit": 0, "auto": auto, "run_until": end + 70_000 }), &trace)
}

fn moments(outputs: &[Out], of: impl Fn(&Out) -> bool) -> Vec<u64> {
    outputs.iter().filter(|out| of(out)).map(|out| out.at).collect()
}

/// How long after the last change the final viewport left.
fn lateness(outputs: &[Out], end: u64) -> u64 {
    let last = outputs.last().unwrap();
    assert_eq!(last.map, Some(format!(r#"{{"g":{}}}"#, end - 10)), "the final viewport is the last to leave");
    last.at - (end - 10)
}

#[test]
fn five_minutes_of_scrolling() {
    let outputs = scroll(300_000, 10_000, true);
    let maps = moments(&outputs, |out| out.map.is_some());
    assert_eq!(maps.iter().filter(|at| **at < 300_000).count(), 200);
    assert_eq!(maps.iter().filter(|at| (240_000..300_000).contains(*at)).count(), 37);
    assert_eq!(worst_minute(moments(&outputs, |_| true)), 57);
    assert_eq!(worst_minute(maps), 51);
    assert_eq!(lateness(&outputs, 300_000), 972);
    let commands = outputs.iter().filter_map(|out| Some((out.at, out.command?)));
    assert!(commands.clone().all(|(at, id)| at == id), "every command goes at once");
    assert_eq!(commands.count(), 30);
    assert_eq!(lateness(&scroll(300_000, 10_000, false), 300_000), 1_280);
}

#[test]
fn the_same_with_a_command_every_second() {
    let outputs = scroll(300_000, 1_000, true);
    assert_eq!(worst_minute(moments(&outputs, |_| true)), 91);
    assert!(outputs.iter().filter_map(|out| Some((out.at, out.command?))).all(|(at, id)| at == id));
    assert_eq!(lateness(&outputs, 300_000), 2_626);
}

#[test]
fn whenever_the_scroll_stops_the_final_viewport_is_never_later_than_half_a_minute() {
    let worst = (1..=12).map(|step| lateness(&scroll(step * 13_010, 1_000, true), step * 13_010)).max();
    assert!(worst <= Some(30_000), "{worst:?}");
}

#[test]
fn a_burst_of_three_hundred_changes() {
    let trace = (0..300).fold(String::new(), |text, n| format!("{text}{} subscribe g {}\n", n * 5, n + 1));
    check(
        &json!({ "settle_ms": 0, "run_until": 90000 }),
        &trace,
        &expect![[r#"
            0 send {"g":1}
            5 send {"g":2}
            10 send {"g":3}
            15 send {"g":4}
            20 send {"g":5}
            25 send {"g":6}
            30 send {"g":7}
            35 send {"g":8}
            869 send {"g":174}
            1715 send {"g":300}
        "#]],
    );
}

#[test]
fn eighty_guilds_each_new() {
    let mut trace = (0..81).fold(String::new(), |text, n| format!("{text}{n} subscribe {n} []\n"));
    trace += "1000 command 1-21";
    let outputs = run(&json!({ "settle_ms": 0, "run_until": 90000 }), &trace);
    let sent: Vec<(u64, &str)> = outputs.iter().map(|out| (out.at, &*out.text)).collect();
    assert_eq!(sent.len(), 102);
    for (n, sent) in sent[..80].iter().enumerate() {
        assert_eq!(*sent, (n as u64, &*format!(r#"send {{"{n}":[]}}"#)));
    }
    for (id, sent) in (1..=20).zip(&sent[80..]) {
        assert_eq!(*sent, (1_000, &*format!("send {id}")));
    }
    // The command takes the first place that ages out; the map waits until fewer than 80 stand.
    assert_eq!(sent[100..], [(60_000, "send 21"), (60_021, r#"send {"80":[]}"#)]);
}

#[test]
fn a_new_guild_right_after_a_scroll() {
    let scroll = (0..300).fold(String::new(), |text, n| format!("{text}{} subscribe g {n}\n", n * 5));
    let outputs = run(&json!({ "settle_ms": 0 }), &(scroll + "1500 subscribe new 1"));
    let last = outputs.last().unwrap();
    assert_eq!((last.at, &*last.text), (1_500, r#"send {"g":299,"new":1}"#));
}

#[test]
fn the_first_subscription_of_a_new_connection() {
    let scroll = (0..300).fold(String::new(), |text, n| format!("{text}{} subscribe g {n}\n", n * 5));
    let outputs = run(
        &json!({ "settle_ms": 0 }),
        &(scroll + "1500 closed 1006\n1600 opened\n1600 direct 6\n1650 ready\n1650 subscribe g 7"),
    );
    let sent: Vec<(u64, &str)> = outputs[9..].iter().map(|out| (out.at, &*out.text)).collect();
    assert_eq!(sent, [(1_650, r#"send {"g":299}"#), (1_650, r#"send {"g":7}"#)]);
}

#[test]
fn d53_two_bursts_around_a_minute() {
    let trace = "59900 command 1-114\n60100 command 201-314";
    check(
        &json!({ "run_until": 400_000 }),
        trace,
        &expect![[r#"
            59900 send 1-100
            119900 send 101-114
            119900 send 201-286
            179900 send 287-314
        "#]],
    );
    let all = moments(&run(&json!({ "run_until": 400_000 }), trace), |_| true);
    assert_eq!((all.len(), worst_minute(all)), (228, 100));
}

#[test]
fn at_rest_it_leaves_within_a_fifth_of_a_second() {
    let mut trace = String::new();
    let mut rests = Vec::new();
    for pause in 0..300 {
        let start = pause * 2_000;
        (start..start + 1_000).step_by(10).for_each(|at| writeln!(trace, "{at} subscribe g {at}").unwrap());
        rests.push(start + 990);
        if pause % 5 == 0 {
            writeln!(trace, "{} command {pause}", start + 1_050).unwrap();
        }
    }
    let outputs = run(&json!({ "run_until": 700_000 }), &trace);
    for rest in rests {
        let map = Value::from(rest);
        let left = outputs.iter().find(|out| out.map == Some(format!(r#"{{"g":{map}}}"#))).unwrap();
        assert!(left.at - rest <= 200, "{rest} left at {}", left.at);
    }
    assert!(worst_minute(moments(&outputs, |out| out.map.is_some())) <= 80);
}

#[test]
fn at_rest_after_any_pattern_it_leaves_within_1700_ms() {
    for (scroll, pause) in [(10, 160), (20, 200), (100, 200), (300, 300), (50, 1_700), (10, 149), (3_000, 1_701)] {
        let (mut trace, mut at, mut rests) = (String::new(), 0, Vec::new());
        while at < 400_000 {
            (at..at + scroll).step_by(10).for_each(|at| writeln!(trace, "{at} subscribe g {at}").unwrap());
            rests.push((at + scroll - 10, at + scroll + pause));
            at += scroll + pause;
        }
        let outputs = run(&json!({ "run_until": 900_000 }), &trace);
        for (rest, next) in rests {
            match outputs.iter().find(|out| out.map == Some(format!(r#"{{"g":{rest}}}"#))) {
                Some(left) => assert!(left.at - rest <= 1_700, "{scroll} {pause}: {rest} left at {}", left.at),
                None => assert!(next - rest <= 1_700, "{scroll} {pause}: {rest} never left"),
            }
        }
    }
}
