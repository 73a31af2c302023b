use tidegate_core::{MessageKey, Peer};

use super::{Args, Format, Multipart, find, from_body, from_query};

fn read(query: &str, kind: &str, body: &[u8]) -> Args {
    let mut args = Args::default();
    from_query(&mut args, query);
    from_body(&mut args, &Format::of(Some(kind), false), body);
    args
}

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json; charset=utf-8";

#[test]
fn the_first_wins_and_the_query_before_the_body() {
    assert_eq!(read("chat_id=1&chat_id=2", FORM, b"chat_id=3").chat, Some(Peer::Id(1)));
    assert_eq!(read("", JSON, br#"{"chat_id":1,"chat_id":2}"#).chat, Some(Peer::Id(1)));
}

#[test]
fn forms_are_decoded() {
    let args = read(
        "",
        FORM,
        b"text=a%26chat_id%3D9&chat%5Fid=%40Name&message_id=+17+&message_thread_id=4&media=%5B%7B%7D%2C%7B%7D%5D",
    );
    assert_eq!(args.chat, Some(Peer::Name("@name".into())));
    assert_eq!((args.message, args.thread, args.media), (Some(MessageKey::of("17")), Some(4), Some(2)));
    assert_eq!(read("", FORM, b"chat_id=%ff&chat_id=2").chat, Some(Peer::Id(2)), "not UTF-8: left out");
}

#[test]
fn json_is_read_at_its_top_level_alone() {
    let body = br#" { "reply" : {"chat_id":1,"x":["}",{"chat_id":2}]}, "text":"\"chat_id\":3\\", "chat_id" : "-4" ,
        "message_ids":[1, 2,3], "media":[], "rich_message":{"a":[1]}, "draft_id":8, "inline_message_id":null }"#;
    let args = read("", JSON, body);
    assert_eq!((args.chat, args.messages, args.media), (Some(Peer::Id(-4)), Some(3), Some(0)));
    assert!(args.rich);
    assert_eq!(args.draft, Some(MessageKey::of("8")));
}

#[test]
fn broken_or_cut_json_gives_what_stands_before() {
    for (body, chat) in [
        (&br#"{"chat_id":5,"text":"aaa"#[..], Some(Peer::Id(5))),
        (br#"{"chat_id":5"#, None),
        (br#"{"text":"x\"#, None),
        (br#"{"text":["#, None),
        (b"[1]", None),
        (b"", None),
        (b"{", None),
        (b"{]", None),
        (br#"{"a"}"#, None),
        (br#"{"chat_id":}"#, None),
        (br#"{"chat_id":null}"#, None),
        (br#"{"chat_id":""}"#, None),
    ] {
        assert_eq!(read("", JSON, body).chat, chat, "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    let body = [&b"{\"x\":"[..], &vec![b'['; 1 << 20], b",\"chat_id\":5}"].concat();
    assert_eq!(read("", JSON, &body).chat, None);
}

#[test]
fn multipart_fields_are_found_however_the_body_is_cut() {
    let body = "preamble\r\n--B\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"chat_id\"\r\n\r\n\
                -1\r\n-- B\r\n--C\r\n--B\r\ncontent-type: text/plain\r\nCONTENT-DISPOSITION: form-data; name=chat_id\r\n\r\n-7\r\n\
                --B\r\nContent-Disposition: form-data; name=\"media\"\r\n\r\n[{},{},{}]\r\n--B--\r\nafter";
    let whole = read("", "Multipart/Form-Data; charset=x; boundary=B", body.as_bytes());
    assert_eq!((whole.chat.clone(), whole.media), (Some(Peer::Id(-7)), Some(3)));
    for step in 1..40 {
        let (mut args, boundary) = (Args::default(), b"\r\n--B".to_vec());
        let mut parts = Multipart::new(&boundary);
        for end in (0..body.len()).step_by(step).chain([body.len()]) {
            parts.read(&body.as_bytes()[..end], |name, value| args.set(name, value));
        }
        assert_eq!(args, whole, "in steps of {step}");
    }
}

#[test]
fn what_has_no_known_form_is_not_looked_into() {
    for (kind, encoded) in
        [(Some("text/plain"), false), (None, false), (Some(FORM), true), (Some("multipart/form-data"), false)]
    {
        assert_eq!(Format::of(kind, encoded), Format::Opaque, "{kind:?}");
    }
    assert_eq!(read("", "text/plain", b"chat_id=5").chat, None);
}

#[test]
fn names_that_are_none_make_no_peer() {
    let long = format!("chat_id={}", "x".repeat(200));
    for body in ["chat_id=inline:5", "chat_id=", "chat_id=%20", &long] {
        assert_eq!(read("", FORM, body.as_bytes()).peer(), None, "{body}");
    }
    assert_eq!(read("", FORM, b"inline_message_id=AbC").peer(), Some(&Peer::Inline("AbC".into())));
}

#[test]
fn an_argument_can_be_read_again() {
    let format = Format::of(Some(JSON), false);
    assert_eq!(find("text", "a=b", &format, br#"{"text":"a\nb"}"#).as_deref(), Some("a\nb"));
    assert_eq!(find("text", "text=q", &format, br#"{"text":"a"}"#).as_deref(), Some("q"));
    assert_eq!(find("caption", "", &Format::Form, b"caption=x+y").as_deref(), Some("x y"));
}

#[test]
fn a_boolean_is_read_as_telegrams_server_reads_one() {
    for (body, paid) in [
        (r#"{"allow_paid_broadcast":true}"#, Some(true)),
        (r#"{"allow_paid_broadcast":"True"}"#, Some(true)),
        (r#"{"allow_paid_broadcast":" YES "}"#, Some(true)),
        (r#"{"allow_paid_broadcast":1}"#, Some(true)),
        (r#"{"allow_paid_broadcast":false}"#, Some(false)),
        (r#"{"allow_paid_broadcast":null}"#, Some(false)),
        (r#"{"allow_paid_broadcast":2}"#, Some(false)),
        (r#"{"x":{"allow_paid_broadcast":true}}"#, None),
    ] {
        assert_eq!(read("", JSON, body.as_bytes()).paid, paid, "{body}");
    }
    assert_eq!(read("allow_paid_broadcast=true", FORM, b"allow_paid_broadcast=false").paid, Some(true));
}
