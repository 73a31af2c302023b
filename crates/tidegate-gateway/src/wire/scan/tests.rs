use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn data<'a>(payload: &'a [u8], envelope: &Envelope<'_>) -> Option<&'a str> {
    envelope.d.clone().map(|d| std::str::from_utf8(&payload[d]).unwrap())
}

fn read(payload: &str) -> Read {
    let envelope = scan(payload.as_bytes()).unwrap();
    let d = data(payload.as_bytes(), &envelope).map(str::to_owned);
    (envelope.op, envelope.s, envelope.t.map(Cow::into_owned), d)
}

type Read = (u64, Option<u64>, Option<String>, Option<String>);

fn expected(op: u64, s: Option<u64>, t: Option<&str>, d: Option<&str>) -> Read {
    (op, s, t.map(str::to_owned), d.map(str::to_owned))
}

#[test]
fn discords_own_order() {
    let dispatch = r#"{"t":"MESSAGE_CREATE","s":7,"op":0,"d":{"content":"} \" ]","n":[1,{}]}}"#;
    assert_eq!(
        read(dispatch),
        expected(0, Some(7), Some("MESSAGE_CREATE"), Some(r#"{"content":"} \" ]","n":[1,{}]}"#))
    );
    let hello = r#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250,"_trace":["[\"gw\",{}]"]}}"#;
    assert_eq!(read(hello), expected(10, None, None, Some(r#"{"heartbeat_interval":41250,"_trace":["[\"gw\",{}]"]}"#)));
}

#[test]
fn any_order_and_space() {
    let written = " {\r\n \"d\" : [ {\"op\":9} , \"\\\\\" ] ,\t\"op\" : 0 , \"s\": 3,\"t\" :\"A\\u0042\" } \n";
    assert_eq!(read(written), expected(0, Some(3), Some("AB"), Some("[ {\"op\":9} , \"\\\\\" ]")));
    assert_eq!(read(r#"{"op":11}"#), expected(11, None, None, None));
    assert_eq!(read(r#"{"op":9,"d":false}"#), expected(9, None, None, Some("false")));
    assert_eq!(read(r#"{"t":null,"s":null,"op":9,"d": true }"#), expected(9, None, None, Some("true")));
}

#[test]
fn the_last_of_a_name_counts_however_it_is_written() {
    assert_eq!(read(r#"{"op":1,"d":1,"\u006fp":7,"d":null,"s":1,"s":2}"#), expected(7, Some(2), None, Some("null")));
}

#[test]
fn what_follows_a_dispatchs_data() {
    // Discord writes nothing there. Where something stands there all the same, op, s and t are still right.
    let read_as = |payload| read(payload).3;
    assert_eq!(read_as(r#"{"t":"X","s":1,"op":0,"d":{"a":1},"x":1}"#).as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(read_as(r#"{"t":"X","s":1,"op":0,"d":[],"x":{}}"#).as_deref(), Some("[]"));
    assert_eq!(read_as(r#"{"t":"X","s":1,"op":0,"d":{"a":1},"x":{}}"#).as_deref(), Some(r#"{"a":1},"x":{}"#));
    assert_eq!(read_as(r#"{"t":null,"s":1,"op":0,"d":{"a":1},"x":{}}"#).as_deref(), Some(r#"{"a":1}"#));
}

#[test]
fn large_data_that_comes_first() {
    let inner = format!("[{}\"{}\"]", "[{\"a\":\"]\"}],".repeat(400_000), "\\\"".repeat(4 << 20));
    let payload = format!("{{\"d\":{inner},\"op\":0,\"s\":1,\"t\":\"X\"}}");
    let envelope = scan(payload.as_bytes()).unwrap();
    assert_eq!((envelope.op, envelope.s, envelope.t.as_deref()), (0, Some(1), Some("X")));
    assert_eq!(data(payload.as_bytes(), &envelope), Some(&*inner));
}

#[test]
fn nesting_costs_no_stack() {
    let payload = format!("{{\"d\":{}{},\"op\":0}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(scan(payload.as_bytes()).unwrap().op, 0);
}

#[test]
fn what_is_not_json() {
    for bad in [
        "",
        " ",
        "{",
        "{}x",
        "[]",
        "null",
        "\"op\"",
        "{\"op\":0",
        "{\"op\":0,}",
        "{,\"op\":0}",
        "{\"op\" 0}",
        "{op:0}",
        "{\"op\":0}{}",
        "{\"op\":0 \"s\":1}",
        "{\"d\":\"x,\"op\":0}",
        "{\"d\":[1,\"op\":0}",
        "{\"d\":\"\\",
        "{\"op\":",
        "{\"t\":null,\"s\":null,\"op\":1,\"d\":",
        "{\"t\":null,\"s\":null,\"op\":1,\"d\":}",
        "{\"t\":null,\"s\":null,\"op\":1,\"d\":[1,2",
        "{\"\\x\":1,\"op\":0}",
    ] {
        assert_eq!(scan(bad.as_bytes()), Err(Malformed::NotJson), "{bad}");
        assert_eq!(strict(bad.as_bytes()).err(), Some(Malformed::NotJson), "{bad}");
    }
    assert_eq!(scan(b"{\"\xff\":1,\"op\":0}"), Err(Malformed::NotJson));
}

#[test]
fn what_is_json_but_no_payload() {
    for (bad, error) in [
        ("{}", Malformed::NoOp),
        (r#"{"d":{"op":1}}"#, Malformed::NoOp),
        (r#"{"op":null}"#, Malformed::Field("op")),
        (r#"{"op":"1"}"#, Malformed::Field("op")),
        (r#"{"op":-1}"#, Malformed::Field("op")),
        (r#"{"op":1.0}"#, Malformed::Field("op")),
        (r#"{"op":1e1}"#, Malformed::Field("op")),
        (r#"{"op":18446744073709551616}"#, Malformed::Field("op")),
    ] {
        assert_eq!(scan(bad.as_bytes()), Err(error), "{bad}");
        assert_eq!(strict(bad.as_bytes()).err(), Some(error), "{bad}");
    }
    assert_eq!(scan(br#"{"op":0,"s":"1"}"#), Err(Malformed::Field("s")));
    assert_eq!(scan(br#"{"op":0,"t":1}"#), Err(Malformed::Field("t")));
}

#[test]
fn a_bots_frame_is_read_whole() {
    let frame = strict(br#" {"op":2,"d": {"token" : "x", "n":1e5},"op":3} "#).unwrap();
    assert_eq!((frame.op, frame.d.map(RawValue::get)), (3, Some(r#"{"token" : "x", "n":1e5}"#)));
    for bad in [r#"{"op":1,"d":{"a":}}"#, r#"{"op":1,"d":[1,]}"#, r#"{"op":1,"d":01}"#, "{\"op\":1,\"d\":\"\n\"}"] {
        assert_eq!(strict(bad.as_bytes()).err(), Some(Malformed::NotJson), "{bad}");
    }
    assert_eq!(strict(b"{\"op\":1,\"d\":\"\xff\"}").err(), Some(Malformed::NotJson));
    let deep = format!("{{\"op\":1,\"d\":{}", "[".repeat(1 << 20));
    assert_eq!(strict(deep.as_bytes()).err(), Some(Malformed::NotJson));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f32>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
        r#"["\\{}\[\],:]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(r#"["\\{}a-z]{0,4}"#, inner, 0..6).prop_map(Value::from_iter),
        ]
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " ", "\n", "\r\n\t "])
}

/// A payload's text, and its members in the order in which they stand.
fn any_payload() -> impl Strategy<Value = (String, Vec<(String, Value)>)> {
    let t = prop_oneof![Just(Value::Null), "[A-Z_]{1,20}".prop_map(Value::from), any::<String>().prop_map(Value::from)];
    let s = prop_oneof![Just(Value::Null), any::<u64>().prop_map(Value::from)];
    let op = prop_oneof![Just(0), 0..12_u64, any::<u64>()].prop_map(Value::from);
    let field = |name: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |value| (name.to_owned(), value));
    let other = (r"[a-z\\]{1,5}", any_json())
        .prop_filter("one of ours", |(name, _)| !matches!(&**name, "op" | "s" | "t" | "d"));
    let members =
        (field("t", t.boxed()), field("s", s.boxed()), field("op", op.boxed()), field("d", any_json().boxed()), other);
    let members = members.prop_map(|(t, s, op, d, other)| vec![t, s, op, d, other]).prop_shuffle();
    let spaces = prop_oneof![Just(vec![""; 6]), prop::collection::vec(space(), 6)];
    (members, spaces, 0..4).prop_map(|(mut members, spaces, order)| {
        // As Discord writes it, in two of four without a member that is not known.
        if order > 0 {
            let place = |name: &String| ["t", "s", "op", "d"].iter().position(|known| known == name);
            members.sort_by_key(|(name, _)| place(name).unwrap_or(4));
            members.truncate(if order == 1 { 5 } else { 4 });
        }
        let written: Vec<_> = members
            .iter()
            .map(|(name, value)| format!("{}{}{}:{}{value}{}", spaces[0], json!(name), spaces[1], spaces[2], spaces[3]))
            .collect();
        (format!("{}{{{}}}{}", spaces[4], written.join(","), spaces[5]), members)
    })
}

proptest! {
    #[test]
    fn reads_what_serde_json_reads((payload, members) in any_payload()) {
        let whole: Value = serde_json::from_str(&payload).unwrap();
        let envelope = scan(payload.as_bytes()).unwrap();
        prop_assert_eq!(Some(envelope.op), whole["op"].as_u64());
        prop_assert_eq!(envelope.s, whole["s"].as_u64());
        prop_assert_eq!(envelope.t.as_deref(), whole["t"].as_str());
        let frame = strict(payload.as_bytes()).unwrap();
        prop_assert_eq!(frame.op, envelope.op);
        let d = frame.d.unwrap().get();
        let read: Value = serde_json::from_str(d).unwrap();
        prop_assert_eq!(&read, &whole["d"]);
        let taken = &payload[envelope.d.unwrap()];
        // What follows the data of a dispatch may be taken for it.
        prop_assert!(taken == d || members.last().unwrap().0 != "d" && envelope.op == 0 && taken.starts_with(d), "{taken}");
    }

    #[test]
    fn a_payload_that_is_cut_off_is_none((payload, _) in any_payload(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(payload.trim_end().len());
        let cut = &payload.as_bytes()[..cut];
        // A dispatch is judged by its last brackets.
        prop_assert!(scan(cut).is_err() || cut.ends_with(b"}}"));
        prop_assert!(strict(cut).is_err());
    }

    #[test]
    fn no_bytes_make_it_fall(bytes in prop::collection::vec(any::<u8>(), 0..200), text in r#"[{}\[\]",:\\optsd0-9 ]{0,60}"#) {
        let _ = (scan(&bytes), strict(&bytes));
        let read = scan(text.as_bytes());
        if let Ok(frame) = strict(text.as_bytes()) {
            let op = read.as_ref().map(|envelope| envelope.op).ok();
            prop_assert!(op == Some(frame.op) || matches!(read, Err(Malformed::Field("s" | "t"))), "{text}");
        }
    }
}
