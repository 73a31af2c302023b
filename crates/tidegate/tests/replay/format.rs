//! The lines themselves, letter by letter.

use crate::timeline::replay;

fn lines(input: &[&str]) -> String {
    let (status, output, error) = replay("governor", &input.join("\n"));
    assert_eq!((status, error.as_str()), (Some(0), ""));
    output
}

#[test]
fn outputs_are_externally_tagged() {
    let output = lines(&[
        r#"{"new":{"policy":"telegram","instant":true,"run_until":2000}}"#,
        r#"{"at":0,"input":{"write":{"ticket":1,"method":"sendMessage","peer":"77","class":"send","weight":1}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":2,"method":"sendMessage","peer":77}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":3,"method":"sendMessage","peer":"77"}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":4,"method":"editMessageText","peer":"77","message":"9","max_hold_ms":5000}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":5,"method":"editMessageText","peer":"77","message":9}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":6,"method":"sendChatAction","peer":"77","thread":3}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":7,"method":"sendChatAction","peer":"77","thread":3}}}"#,
        r#"{"at":0,"input":{"write":{"ticket":8,"method":"sendMessage","peer":"77","max_hold_ms":0}}}"#,
        r#"{"at":0,"input":"tick"}"#,
        r#"{"at":500,"input":{"query":"peers"}}"#,
    ]);
    let expected = [
        r#"{"at":0,"output":{"send":{"ticket":1,"outcome":"admitted","held_ms":0}}}"#,
        r#"{"at":0,"output":{"send":{"ticket":2,"outcome":"admitted","held_ms":0}}}"#,
        r#"{"at":0,"output":{"send":{"ticket":3,"outcome":"admitted","held_ms":0}}}"#,
        r#"{"at":0,"output":{"superseded":{"ticket":4,"by":5}}}"#,
        r#"{"at":0,"output":{"send":{"ticket":6,"outcome":"admitted","held_ms":0}}}"#,
        r#"{"at":0,"output":{"drop":{"ticket":7,"reason":"dry"}}}"#,
        r#"{"at":0,"output":{"refuse":{"ticket":8,"retry_after_ms":2000,"reason":"max_hold"}}}"#,
        r#"{"at":500,"output":{"peers":1}}"#,
        r#"{"at":1000,"output":{"send":{"ticket":5,"outcome":"held","held_ms":1000}}}"#,
    ];
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_input_but_a_write_comes_before_what_is_due_at_its_moment() {
    let new = r#"{"new":{"policy":"telegram","instant":true}}"#;
    let write = |ticket: u32| {
        format!(r#"{{"at":0,"input":{{"write":{{"ticket":{ticket},"method":"sendMessage","peer":"77"}}}}}}"#)
    };
    let writes: Vec<String> = (1..=4).map(write).collect();
    let mut input = vec![new];
    input.extend(writes.iter().map(String::as_str));
    input.push(r#"{"at":1000,"input":{"cancel":{"ticket":4}}}"#);
    assert_eq!(lines(&input).lines().count(), 3);
    input.pop();
    input.push(r#"{"at":1000,"input":{"write":{"ticket":5,"method":"getMe"}}}"#);
    let output = lines(&input);
    let last: Vec<&str> = output.lines().skip(3).collect();
    assert_eq!(
        last,
        [
            r#"{"at":1000,"output":{"send":{"ticket":4,"outcome":"held","held_ms":1000}}}"#,
            r#"{"at":1000,"output":{"send":{"ticket":5,"outcome":"bypass","held_ms":0}}}"#,
        ]
    );
}

#[test]
fn bad_input_ends_with_two_and_the_lines_number() {
    let (status, output, error) = replay("governor", "{\"new\":{}}\n{\"at\":0,\"input\":\"tick\"}\nnot json\n");
    assert_eq!((status, output.as_str()), (Some(2), ""));
    assert!(error.starts_with("tidegate replay: line 3: expected {\"at\":MS,\"input\":…}: "), "{error}");
    let (status, _, error) = replay("governer", "");
    assert_eq!(status, Some(2));
    assert!(error.contains("there is no gate \"governer\""), "{error}");
}
