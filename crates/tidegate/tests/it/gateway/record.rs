//! What the program writes down of its gates plays back to the same.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::discord::{TOKEN, Tide};
use crate::fake::until;

#[test]
fn a_recorded_storm_replays_to_the_same_and_holds_no_secret() {
    let folder = std::env::temp_dir().join(format!("tidegate-it-record-{}", std::process::id()));
    let mut tide = Tide::new(&format!("record.dir = \"{}\"\n", folder.display()));
    let mut live = tide.live();
    tide.dispatch(50);
    super::numbers(&mut live.bot, 50);
    for what in [json!("reconnect"), json!({"close": 4000}), json!("cut")] {
        let before = tide.judged().total.resumed;
        tide.control("now", &json!({"do": what}));
        until("the session is resumed", || tide.judged().total.resumed > before);
    }
    tide.control("weather", &json!({"on": "frame", "op": 8, "do": "cut"}));
    live.bot.say(
        &json!({"op": 8, "d": {"guild_id": "1", "query": "nobody-may-read", "limit": 1, "nonce": "nobody-may-read"}}),
    );
    until("the request has come again", || tide.judged().total.by_op.get(&8) == Some(&2));
    live.bot.dispatch("GUILD_MEMBERS_CHUNK");
    live.bot.say(&json!({"op": 3, "d": {"activities": [{"name": "nobody-may-read"}]}}));
    until("the presence is there", || tide.judged().total.by_op.contains_key(&3));
    let session = live.session.clone();
    drop(live);
    tide.house.terminate();
    assert_eq!(tide.house.wait(), Some(0));
    let read = |suffix: &str| {
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let found: Vec<_> = names.filter(|path| path.to_string_lossy().ends_with(suffix)).collect();
        fs::read_to_string(found.iter().min_by_key(|path| path.as_os_str().len()).unwrap()).unwrap()
    };
    let (inputs, outputs) = (read(".jsonl"), read(".out.jsonl"));
    fs::remove_dir_all(&folder).unwrap();
    for secret in [TOKEN, &session, "nobody-may-read", "/resume"] {
        assert!(!inputs.contains(secret) && !outputs.contains(secret), "{secret}");
    }
    assert!(outputs.lines().filter(|line| line.contains("\"resume\":")).count() >= 3, "{outputs}");
    assert!(inputs.contains(r#""answered":"#), "{inputs}");
    assert_eq!(replayed(&inputs), outputs);
}

fn replayed(trace: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["replay", "bot"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let trace = trace.to_owned();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, trace.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
