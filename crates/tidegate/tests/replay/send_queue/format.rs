//! The lines themselves, letter by letter.

use expect_test::expect;

use crate::timeline::replay;

#[test]
fn the_lines_letter_by_letter() {
    let input = [
        r#"{"new":{"period_ms":60000,"platform_limit":2,"queued_limit":3,"subscription_limit":80,"burst":8,"max_payload":4096,"presence_limit":5,"settle_ms":150,"settle_burst":20,"queue_bound":1}}"#,
        r#"{"at":0,"input":{"subscribe":{"guild":"g","snapshot":{"z":1,"a":[[0,99]]}}}}"#,
        r#"{"at":0,"input":{"command":{"id":1,"op":3,"bytes":120}}}"#,
        r#"{"at":1,"input":{"members_request":{"id":2,"guild":"g","all":true,"bytes":80}}}"#,
        r#"{"at":2,"input":{"command":{"id":3,"op":4,"bytes":120}}}"#,
        r#"{"at":2,"input":{"command":{"id":4,"op":4,"bytes":5000}}}"#,
        r#"{"at":3,"input":{"rate_limited":{"opcode":8,"guild":"g","retry_after_ms":100}}}"#,
        r#"{"at":3,"input":{"subscribe":{"guild":7,"snapshot":0,"bytes":5000}}}"#,
        r#"{"at":4,"input":"tick"}"#,
        r#"{"at":4,"input":{"direct":{"op":1}}}"#,
        r#"{"at":5,"input":{"closed":{"code":4008}}}"#,
        r#"{"at":6,"input":"opened"}"#,
        r#"{"at":7,"input":"ready"}"#,
    ];
    let (status, output, error) = replay("send-queue", &input.join("\n"));
    assert_eq!((status, error.as_str()), (Some(0), ""));
    expect![[r#"
        {"at":0,"output":{"send":{"subscriptions":{"g":{"a":[[0,99]],"z":1}}}}}
        {"at":0,"output":{"send":{"command":{"id":1}}}}
        {"at":2,"output":{"refused":{"id":3,"reason":"queue_full"}}}
        {"at":2,"output":{"refused":{"id":4,"reason":"too_large"}}}
        {"at":3,"output":{"refused":{"guild":"7","reason":"too_large"}}}
        {"at":4,"output":{"close":{"code":4000}}}
        {"at":5,"output":{"dropped":{"id":2,"reason":"after_4008"}}}
    "#]]
    .assert_eq(&output);
}

#[test]
fn bad_lines_are_told() {
    let cases = [
        (r#"{"new":{"burts":1}}"#, "", "line 1: new: unknown field `burts`, expected one of `period_ms`"),
        (r#"{"new":{}}"#, r#"{"command":{"op":3}}"#, "line 2: expected {\"at\":MS,\"input\":…}: missing field `id`"),
        (r#"{"new":{}}"#, r#"{"command":{"id":1,"op":1}}"#, "line 2: command: op 1 is never queued: expected it as"),
        (r#"{"new":{}}"#, r#"{"command":{"id":1,"op":37}}"#, "line 2: command: op 37 is a subscription"),
        (r#"{"new":{}}"#, r#"{"direct":{"op":3}}"#, "line 2: direct: op 3 is not sent at once: expected 1, 2 or 6"),
        (r#"{"new":{}}"#, r#""tock""#, "unknown variant `tock`, expected one of `command`, `members_request`"),
    ];
    for (new, input, expected) in cases {
        let input = if input.is_empty() { String::new() } else { format!(r#"{{"at":0,"input":{input}}}"#) };
        let (status, _, error) = replay("send-queue", &format!("{new}\n{input}\n"));
        assert_eq!(status, Some(2));
        assert!(error.contains(expected), "told {error}\nnot  {expected}");
    }
}
