//! What is said of bad traces, and of settings.

use std::io::Cursor;

use crate::replay;

fn told(lines: &[&str]) -> String {
    replay("shard", Cursor::new(lines.join("\n")), Vec::new()).unwrap_err().to_string()
}

#[test]
fn bad_lines_are_told_by_number_and_by_what_was_expected() {
    let new = r#"{"new":{}}"#;
    let cases: [(&[&str], &str); 9] = [
        (&[r#"{"new":{"backof_min_ms":1}}"#], "line 1: new: unknown field `backof_min_ms`"),
        (&[r#"{"new":{"jitter":[1,0.5]}}"#], "line 1: new: jitter: expected [LEAST,MOST]"),
        (&[r#"{"new":{"jitter":2}}"#], "line 1: new: jitter: expected"),
        (&[r#"{"new":{"invalid_session_wait_ms":[5,1]}}"#], "invalid_session_wait_ms: expected [LEAST,MOST]"),
        (&[r#"{"new":{"on_budget_gone":"wait"}}"#], "unknown variant `wait`, expected `park` or `stop`"),
        (&[r#"{"new":{"session":{"seq":1}}}"#], "line 1: new: missing field `id`"),
        (&[new, r#"{"at":0,"input":"begin"}"#], "line 2: expected {\"at\":MS,\"input\":…}: unknown variant `begin`"),
        (&[new, r#"{"at":0,"input":{"closed":{"gen":1,"code":70000}}}"#], "expected u16"),
        (&[new, r#"{"at":0,"input":{"hello":{"gen":1}}}"#], "missing field `interval_ms`"),
    ];
    for (lines, expected) in cases {
        let told = told(lines);
        assert!(told.contains(expected), "{lines:?}\n told {told}\n not  {expected}");
    }
}

#[test]
fn figures_of_any_size_are_taken() {
    let new = r#"{"new":{"seed":18446744073709551615,"backoff_min_ms":0,"backoff_max_ms":0,"resume_attempts":0,
        "ack_tolerance":0,"jitter":1,"invalid_session_wait_ms":[0,0],"connect_watchdog_ms":1e30,"hold_ms":0,
        "session":{"id":"s","seq":18446744073709551615,"backoff_step":4294967295,"at":1e300},"run_until":50}}"#
        .replace('\n', "");
    let lines = [
        new.as_str(),
        r#"{"at":0,"input":"start"}"#,
        r#"{"at":1,"input":{"hello":{"gen":1,"interval_ms":1e300}}}"#,
        r#"{"at":2,"input":{"op9":{"gen":1,"resumable":false}}}"#,
        r#"{"at":3,"input":{"closed":{"gen":18446744073709551615,"code":null}}}"#,
    ];
    replay("shard", Cursor::new(lines.join("\n")), Vec::new()).unwrap();
}
