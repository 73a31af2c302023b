//! Commands that die with Discord's connection, which the bot does not see: they are asked again once the session is
//! resumed.

use serde_json::{Value, json};
use tidegate_sandbox::discord::gateway::GatewayEntry;

use super::{Live, PLAIN, tide};
use crate::discord::{BOT, TOKEN, Tide};
use crate::fake::until;

/// How Discord's connection ends, in the place of what the next frame with this opcode means.
fn ends_at(tide: &Tide, op: u8, what: &Value) {
    tide.control("weather", &json!({"on": "frame", "op": op, "do": what}));
}

/// Commands of a test are shorter, so that its marks can be told from them.
const MARK: usize = 150;

/// The frames with this opcode that reached Discord, but for marks: when, and how long they were.
fn frames(tide: &Tide, op: u8) -> Vec<(u64, usize)> {
    logged(tide, |entry| entry.op == Some(op) && entry.bytes < Some(MARK))
}

fn logged(tide: &Tide, wanted: impl Fn(&GatewayEntry) -> bool) -> Vec<(u64, usize)> {
    let told = |entry: &GatewayEntry| (entry.at_ms, entry.bytes.unwrap_or(0));
    let frames = |entry: &&GatewayEntry| entry.what == "frame" && wanted(entry);
    tide.discord.with(|model| model.gateway().log().filter(frames).map(told).collect())
}

/// The connection is lost and the session resumed. What was to be asked again was asked before this returns.
fn resumed(tide: &Tide, live: &mut Live, what: &Value) {
    let before = tide.judged().total.resumed;
    tide.strike(what);
    until("the session is resumed", || tide.judged().total.resumed > before);
    settled(tide, live);
}

/// A command that is sent now has reached Discord: what was to go before it has too.
fn settled(tide: &Tide, live: &mut Live) {
    let marks = || logged(tide, |entry| entry.bytes >= Some(MARK)).len();
    let before = marks();
    live.bot.say(&json!({"op": 4, "d": {"guild_id": "99", "channel_id": "5".repeat(MARK)}}));
    until("a later command has come", || marks() > before);
}

/// A bot that beats until something is so.
fn beating(tide: &Tide, live: &mut Live, holds: impl Fn() -> bool) {
    for _ in 0..200 {
        live.bot.beat();
        tide.pass(5.0);
        if holds() {
            return;
        }
    }
    panic!("it never came to that");
}

/// Of the dispatches until one with this name: only it, and what the test made.
fn hears_only(live: &mut Live, name: &str) -> Value {
    live.bot.beat();
    let value = live.bot.until(|value| value["op"] != 11);
    assert_eq!(value["t"], name, "{value}");
    value
}

fn drops() -> [Value; 4] {
    [json!("cut"), json!("reconnect"), json!({"close": 4000}), json!({"invalid": true})]
}

#[test]
fn e11_a_request_for_members_that_died_with_its_connection_is_answered() {
    for what in drops() {
        let tide = tide("");
        let mut live = tide.live_with(PLAIN, &json!({"intents": 515}));
        ends_at(&tide, 8, &what);
        live.bot.say(&json!({"op": 8, "d": {"guild_id": "1", "query": "a", "limit": 1, "nonce": "n7"}}));
        let chunk = hears_only(&mut live, "GUILD_MEMBERS_CHUNK");
        assert_eq!(chunk["d"]["nonce"], "n7", "{chunk}");
        // It was answered: the next connection that dies does not bring it back.
        resumed(&tide, &mut live, &what);
        assert_eq!((frames(&tide, 8).len(), tide.reached().0), (2, 1), "{what}");
    }
}

#[test]
fn e11_a_request_for_all_members_keeps_the_guilds_half_minute() {
    let tide = tide("");
    let mut live = tide.live_with(PLAIN, &json!({"intents": 515}));
    ends_at(&tide, 8, &json!("cut"));
    live.bot.say(&json!({"op": 8, "d": {"guild_id": "1", "query": "", "limit": 0}}));
    hears_only(&mut live, "GUILD_MEMBERS_CHUNK");
    let asked = frames(&tide, 8);
    assert!(asked.len() == 2 && asked[1].0 - asked[0].0 >= 30_000, "{asked:?}");
}

#[test]
fn e11_of_states_the_latest_is_set_again() {
    for what in drops() {
        let tide = tide("discord.gateway.send.presence_limit = 0\n");
        let mut live = tide.live();
        ends_at(&tide, 31, &what);
        for (op, d) in [
            (3, json!({"status": "idle"})),
            (4, json!({"guild_id": "1", "channel_id": "5"})),
            (4, json!({"guild_id": "22", "channel_id": "5"})),
            (4, json!({"guild_id": "1", "channel_id": null})),
            (3, json!({"status": "online"})),
            (31, json!({"guild_ids": ["1"]})),
        ] {
            live.bot.say(&json!({"op": op, "d": d}));
        }
        until("all has come again", || frames(&tide, 31).len() == 2);
        let bytes = |op: u8| frames(&tide, op).iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>();
        let length = |op: u8, d: Value| json!({"op": op, "d": d}).to_string().len();
        let (idle, online) = (length(3, json!({"status": "idle"})), length(3, json!({"status": "online"})));
        assert_eq!(bytes(3), [idle, online, online], "{what}");
        let [joined, other, left] = [("1", json!("5")), ("22", json!("5")), ("1", Value::Null)]
            .map(|(guild, channel)| length(4, json!({"guild_id": guild, "channel_id": channel})));
        assert_eq!(bytes(4), [joined, other, left, other, left], "{what}");
        let total = tide.judged().total;
        assert_eq!((total.identifies, total.resumed), (1, 1), "{what}");
    }
}

#[test]
fn e11_the_latest_viewport_is_set_again() {
    let tide = tide("");
    let mut live = tide.live();
    ends_at(&tide, 37, &json!("cut"));
    live.bot.say(&json!({"op": 37, "d": {"subscriptions": {"1": {"channels": {"2": [[0, 99]]}}}}}));
    until("it has come again", || frames(&tide, 37).len() == 2);
    let came = frames(&tide, 37);
    assert_eq!(came[0].1, came[1].1);
}

#[test]
fn e11_other_requests_go_again_until_each_guild_has_answered() {
    let tide = tide("");
    let mut live = tide.live();
    ends_at(&tide, 43, &json!("cut"));
    live.bot.say(&json!({"op": 31, "d": {"guild_ids": ["1", "2"]}}));
    live.bot.say(&json!({"op": 43, "d": {"guild_id": "1", "fields": ["status"]}}));
    let asked = || (frames(&tide, 31).len(), frames(&tide, 43).len());
    until("both have come again", || asked() == (2, 2));
    let answers = |name: &str, guild: &str| tide.control("dispatch", &json!({"t": name, "d": {"guild_id": guild}}));
    answers("SOUNDBOARD_SOUNDS", "1");
    answers("CHANNEL_INFO", "1");
    live.bot.dispatch("CHANNEL_INFO");
    resumed(&tide, &mut live, &json!("cut"));
    assert_eq!(asked(), (3, 2), "one of the two guilds owes its sounds");
    answers("SOUNDBOARD_SOUNDS", "2");
    live.bot.dispatch("SOUNDBOARD_SOUNDS");
    resumed(&tide, &mut live, &json!("cut"));
    assert_eq!(asked(), (3, 2));
}

#[test]
fn what_was_seen_to_be_done_is_not_asked_again() {
    let tide = tide("");
    let mut live = tide.live();
    live.bot.say(&json!({"op": 4, "d": {"guild_id": "1", "channel_id": "5", "self_mute": false, "self_deaf": true}}));
    settled(&tide, &mut live);
    let state = |user: &str| {
        json!({"user_id": user, "guild_id": "1", "channel_id": "5", "session_id": "s", "self_mute": false,
               "self_deaf": true})
    };
    tide.control("dispatch", &json!({"t": "VOICE_STATE_UPDATE", "d": state(BOT)}));
    live.bot.dispatch("VOICE_STATE_UPDATE");
    resumed(&tide, &mut live, &json!("cut"));
    assert_eq!(frames(&tide, 4).len(), 1);
    live.bot.say(&json!({"op": 3, "d": {"status": "idle"}}));
    live.bot.say(&json!({"op": 37, "d": {"subscriptions": {"1": {}}}}));
    // Two heartbeats later: both were read.
    let beats = || tide.judged().total.by_op.get(&1).copied().unwrap_or(0);
    let before = beats();
    beating(&tide, &mut live, || beats() >= before + 2);
    resumed(&tide, &mut live, &json!("cut"));
    assert_eq!((frames(&tide, 3).len(), frames(&tide, 37).len()), (1, 1));
}

#[test]
fn a_frame_that_discord_cannot_read_is_not_sent_again() {
    let tide = tide("");
    let mut live = tide.live();
    live.bot.say(&json!({"op": 3, "d": {"status": "idle"}}));
    settled(&tide, &mut live);
    for (op, code) in [(4, 4002), (31, 4001)] {
        ends_at(&tide, op, &json!({"close": code}));
        let before = tide.judged().total.resumed;
        live.bot.say(&json!({"op": op, "d": {"guild_id": "1", "guild_ids": ["1"]}}));
        beating(&tide, &mut live, || tide.judged().total.resumed > before);
        settled(&tide, &mut live);
        assert_eq!((frames(&tide, op).len(), frames(&tide, 3).len()), (1, 1), "{code}");
    }
}

#[test]
fn to_a_fresh_session_nothing_is_sent_again() {
    let tide = tide("");
    let mut live = tide.live();
    ends_at(&tide, 8, &json!("invalid"));
    live.bot.say(&json!({"op": 3, "d": {"status": "idle"}}));
    live.bot.say(&json!({"op": 8, "d": {"guild_id": "1", "query": "a", "limit": 1}}));
    assert_eq!(live.bot.until(|value| value["op"] != 11)["op"], 9);
    live.bot.identify(TOKEN, &json!({}));
    let mut live = super::ready(live.bot);
    settled(&tide, &mut live);
    assert_eq!((frames(&tide, 3).len(), frames(&tide, 8).len()), (1, 1));
}
