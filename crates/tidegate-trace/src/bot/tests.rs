//! What is said of bad traces.

use std::io::Cursor;

use crate::replay;

fn told(lines: &[&str]) -> String {
    replay("bot", Cursor::new(lines.join("\n")), Vec::new()).unwrap_err().to_string()
}

#[test]
fn bad_lines_name_the_gate_and_what_was_expected() {
    let new = r#"{"new":{}}"#;
    let cases: [(&[&str], &str); 11] = [
        (&[r#"{"new":{"shards":[[0]]}}"#], "line 1: new: expected a shard as [ID,COUNT]"),
        (&[r#"{"new":{"shard":{"backof_min_ms":1}}}"#], "line 1: new: shard: unknown field `backof_min_ms`"),
        (&[r#"{"new":{"shard":{"shard":[0,1]}}}"#], "shard: shard: each shard's own stands under \"shards\""),
        (&[r#"{"new":{"shard":{"jitter":2}}}"#], "line 1: new: shard: jitter: expected"),
        (&[r#"{"new":{"send_queue":{"period":1}}}"#], "line 1: new: send_queue: unknown field `period`"),
        (&[r#"{"new":{"identify_queue":{"spacing":1}}}"#], "line 1: new: identify_queue: unknown field `spacing`"),
        (&[r#"{"new":{"governor":{"policy":"x"}}}"#], "line 1: new: governor: "),
        (&[new, r#"{"at":0,"input":{"shard":{"shard":[0,1],"input":"begin"}}}"#], "line 2: expected"),
        (&[new, r#"{"at":0,"input":{"shard":{"input":"start"}}}"#], "missing field `shard`"),
        (
            &[new, r#"{"at":0,"input":{"send_queue":{"shard":[0,1],"input":{"command":{"id":1,"op":2}}}}}"#],
            "line 2: send_queue: command: op 2 is never queued",
        ),
        (
            &[new, r#"{"at":0,"input":{"governor":{"write":{"ticket":1,"method":"m","class":"x"}}}}"#],
            "line 2: governor: class: \"x\" is none of",
        ),
    ];
    for (lines, expected) in cases {
        let told = told(lines);
        assert!(told.contains(expected), "{lines:?}\n told {told}\n not  {expected}");
    }
}

#[test]
fn figures_of_any_size_are_taken_and_nothing_turns_without_end() {
    let new = r#"{"new":{"shards":[[0,2],[1,2],[0,4294967295]],"shard":{"backoff_min_ms":0,"backoff_max_ms":0,
        "jitter":1,"hold_ms":0,"spacing_ms":0,"invalid_session_wait_ms":[0,0]},"identify_queue":{"hold_ms":0,
        "spacing_ms":0,"http_hold_ms":0,"remaining":0,"reset_at_ms":-5},"run_until":50}}"#
        .replace('\n', "");
    let lines = [
        new.as_str(),
        r#"{"at":0,"input":{"shard":{"shard":[0,2],"input":"start"}}}"#,
        r#"{"at":0,"input":{"shard":{"shard":[0,4294967295],"input":"start"}}}"#,
        r#"{"at":10,"input":{"identify_queue":{"refresh":{"max_concurrency":0,"remaining":9,"reset_at_ms":99999999}}}}"#,
        r#"{"at":20,"input":{"shard":{"shard":[0,2],"input":{"hello":{"gen":1,"interval_ms":1}}}}}"#,
        r#"{"at":20,"input":{"shard":{"shard":[7,9],"input":{"hello":{"gen":1,"interval_ms":1}}}}}"#,
        r#"{"at":21,"input":{"identify_queue":{"request":{"shard":-9223372036854775808}}}}"#,
    ];
    let mut output = Vec::new();
    replay("bot", Cursor::new(lines.join("\n")), &mut output).unwrap();
    assert!(String::from_utf8(output).unwrap().contains(r#""identify":{"gen":1}"#));
}
