use super::{Kind, Said, said};
use crate::close::Close;

const TOKEN: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.secretsecretsecretsecret";

fn read(frame: &str) -> Result<Said, Close> {
    said(&frame.replace("TOKEN", TOKEN).into())
}

fn code(frame: &str) -> u16 {
    read(frame).expect_err(frame).code
}

#[test]
fn an_identify_is_kept_as_it_came_but_for_its_compress() {
    let plain = r#"{"op":2,"d":{"token":"TOKEN", "intents":1,"shard":[1,4],"properties":{"compress":true}}}"#;
    let Ok(Said::Identify(identify)) = read(plain) else { panic!() };
    let d = r#"{"token":"TOKEN", "intents":1,"shard":[1,4],"properties":{"compress":true}}"#.replace("TOKEN", TOKEN);
    assert_eq!(identify.d, d);
    assert_eq!((identify.key.id, identify.key.count), (1, 4));
    let compressed = r#"{"d":{"compress":"zlib-stream","token":"Bot TOKEN","a\"":[1]},"op":2}"#;
    let Ok(Said::Identify(identify)) = read(compressed) else { panic!() };
    assert_eq!(identify.d, r#"{"token":"Bot TOKEN","a\"":[1]}"#.replace("TOKEN", TOKEN));
    assert_eq!((identify.key.id, identify.key.count), (0, 1));
    assert_eq!(identify.token.id(), "123456789012345678");
}

#[test]
fn a_token_is_one_bot_with_and_without_its_kind_and_is_never_shown() {
    let tokens = ["TOKEN", "Bot TOKEN"].map(|token| {
        let Ok(Said::Identify(identify)) = read(&format!(r#"{{"op":2,"d":{{"token":"{token}"}}}}"#)) else { panic!() };
        assert!(!format!("{identify:?}").contains("secretsecret"), "{identify:?}");
        identify.token.hash()
    });
    assert_eq!(tokens[0], tokens[1]);
    let resume = read(r#"{"op":6,"d":{"token":"Bot TOKEN","session_id":"s","seq":7}}"#).unwrap();
    assert!(!format!("{resume:?}").contains("secretsecret"), "{resume:?}");
    let Said::Resume(resume) = resume else { panic!() };
    assert_eq!((resume.token.hash(), &*resume.session, resume.seq), (tokens[0], "s", 7));
}

#[test]
fn what_cannot_be_read_is_closed_as_discord_would() {
    for (frame, expected) in [
        ("", 4002),
        ("[1]", 4002),
        ("\u{83}etf", 4002),
        (r#"{"op":2,"d":{"token":"#, 4002),
        (r#"{"d":1}"#, 4002),
        (r#"{"op":"1"}"#, 4002),
        (r#"{"op":1} {"op":1}"#, 4002),
        (r#"{"op":2}"#, 4002),
        (r#"{"op":2,"d":{"token":5}}"#, 4002),
        (r#"{"op":2,"d":{"token":"a b c"}}"#, 4004),
        (r#"{"op":2,"d":{"token":""}}"#, 4004),
        (r#"{"op":2,"d":{"token":"TOKEN","shard":[5,2]}}"#, 4010),
        (r#"{"op":2,"d":{"token":"TOKEN","shard":[-1,2]}}"#, 4010),
        (r#"{"op":2,"d":{"token":"TOKEN","shard":[0,0]}}"#, 4010),
        (r#"{"op":2,"d":{"token":"TOKEN","shard":[0]}}"#, 4002),
        (r#"{"op":6,"d":{"token":"TOKEN","session_id":"s"}}"#, 4002),
        (r#"{"op":10,"d":{}}"#, 4001),
        (r#"{"op":256,"d":{}}"#, 4001),
    ] {
        assert_eq!(code(frame), expected, "{frame}");
    }
}

#[test]
fn commands_are_told_apart_as_far_as_the_send_queue_needs() {
    let kind = |frame: &str| match read(frame) {
        Ok(Said::Command(command)) => (command.op, format!("{:?}", command.kind)),
        other => panic!("{other:?}"),
    };
    assert!(matches!(read(r#"{"op":1,"d":null}"#), Ok(Said::Beat)));
    assert_eq!(kind(r#"{"op":3,"d":{}}"#), (3, "Plain".to_owned()));
    let all = |all| format!(r#"Members {{ guild: "7", all: {all} }}"#);
    assert_eq!(kind(r#"{"op":8,"d":{"guild_id":"7","query":"","limit":0}}"#), (8, all(true)));
    assert_eq!(kind(r#"{"op":8,"d":{"guild_id":"7","query":"a","limit":0}}"#), (8, all(false)));
    assert_eq!(kind(r#"{"op":8,"d":{"guild_id":"7","user_ids":["1"]}}"#), (8, all(false)));
    assert_eq!(kind(r#"{"op":8,"d":{"guild_id":7}}"#), (8, "Plain".to_owned()));
    let Ok(Said::Command(command)) = read(r#"{"op":37,"d":{"subscriptions":{"1":{"a":[1]},"2":{}}}}"#) else {
        panic!()
    };
    let Kind::Subscribe(map) = command.kind else { panic!() };
    let map: Vec<_> = map.iter().map(|(guild, snapshot)| (&**guild, &snapshot[..])).collect();
    assert_eq!(map, [("1", &br#"{"a":[1]}"#[..]), ("2", b"{}")]);
    let Ok(Said::Command(command)) = read(r#"{"op":14,"d":{"guild_id":"1","typing":true}}"#) else { panic!() };
    let Kind::Subscribe(map) = command.kind else { panic!() };
    assert_eq!((&*map[0].0, &map[0].1[..]), ("1", &br#"{"typing":true}"#[..]));
}
