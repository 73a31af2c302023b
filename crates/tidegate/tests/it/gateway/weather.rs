//! Bad days at Discord's, and what a bot sees of them.

use serde_json::{Value, json};

use super::client::{Bot, Heard};
use super::{Live, PLAIN, ready, tide};
use crate::discord::{BOT, TOKEN, Tide};
use crate::fake::until;

/// Discord dispatches events with these numbers.
fn say(tide: &Tide, numbers: std::ops::Range<u64>) {
    for number in numbers {
        tide.control("dispatch", &json!({"t": "NUMBERED", "d": {"number": number}}));
    }
}

/// The bot hears them, and nothing else of any meaning.
fn heard(live: &mut Live, numbers: std::ops::Range<u64>) {
    live.bot.beat();
    for number in numbers {
        let value = live.bot.until(|value| value["op"] != 11);
        assert_eq!((&value["t"], &value["d"]["number"]), (&json!("NUMBERED"), &json!(number)), "{value}");
    }
}

/// A bot that is live while this happens to Discord's connection: nothing of it is to be seen.
fn undisturbed(tide: &Tide, what: &Value) {
    let mut live = tide.live();
    say(tide, 0..3);
    heard(&mut live, 0..3);
    tide.strike(what);
    say(tide, 3..7);
    heard(&mut live, 3..7);
    let total = tide.judged().total;
    assert_eq!((total.identifies, total.resumes, total.resumed), (1, 1, 1), "{what}");
}

#[test]
fn a_drop_of_discords_is_not_seen() {
    for what in
        [json!("cut"), json!({"close": 1000}), json!({"close": 4000}), json!("reconnect"), json!({"invalid": true})]
    {
        undisturbed(&tide(""), &what);
    }
}

#[test]
fn a_connection_that_is_dead_is_found_and_resumed() {
    for what in ["freeze", "deaf"] {
        let tide = tide("");
        let mut live = tide.live();
        tide.strike(&json!(what));
        for _ in 0..100 {
            live.bot.beat();
            tide.pass(10.0);
            if tide.judged().total.resumed == 1 {
                break;
            }
        }
        say(&tide, 0..2);
        heard(&mut live, 0..2);
        assert_eq!(tide.reached(), (1, 1));
    }
}

#[test]
fn a_command_waits_for_the_session() {
    let tide = tide("");
    let mut live = tide.live();
    tide.control("weather", &json!({"on": "connect", "do": {"refuse": 503}}));
    tide.strike(&json!("cut"));
    until("it is noticed", || tide.house.output().contains("Discord's connection failed"));
    live.bot.say(&json!({"op": 4, "d": {"guild_id": "1"}}));
    until("it went", || tide.judged().total.by_op.get(&4) == Some(&1));
    assert_eq!(tide.reached(), (1, 1));
}

fn invalid() -> Value {
    json!({"t": null, "s": null, "op": 9, "d": false})
}

/// IDENTIFYs on the same socket, as two libraries do in the same millisecond.
fn identifies_again(mut bot: Bot) -> Live {
    bot.identify(TOKEN, &json!({}));
    let again = ready(bot);
    assert_eq!(again.bot.seq, 2);
    again
}

#[test]
fn a_lost_session_is_op_9_at_once_and_the_next_identify_is_held() {
    let tide = tide("");
    let mut live = tide.live();
    tide.strike(&json!("invalid"));
    assert_eq!(live.bot.json(), invalid());
    let mut again = identifies_again(live.bot);
    assert_ne!(again.session, live.session);
    // Discord is unwell: each IDENTIFY is answered with op 9 for a while. The bot sees a quiet connection.
    tide.control("weather", &json!({"on": "identify", "do": "invalid", "times": 2}));
    tide.strike(&json!("invalid"));
    assert_eq!(again.bot.json(), invalid());
    identifies_again(again.bot);
    let total = tide.judged().total;
    assert_eq!((total.identifies, total.spacing_violations), (5, 0));
}

#[test]
fn discords_refusal_of_a_resume_is_op_9() {
    let tide = tide("");
    let mut live = tide.live();
    tide.control("weather", &json!({"on": "resume", "do": "invalid"}));
    tide.strike(&json!("cut"));
    assert_eq!(live.bot.json(), invalid());
    let mut other = tide.greeted(PLAIN);
    other.resume(TOKEN, &live.session, live.bot.seq);
    assert_eq!(other.json(), invalid());
    identifies_again(live.bot);
}

#[test]
fn what_is_older_than_the_ring_is_resumed_at_discord() {
    let tide = tide("discord.gateway.resume_buffer = 300\n");
    let live = tide.live();
    drop(live.bot);
    tide.dispatch(600);
    until("Discord has sent them", || tide.judged().total.dispatches == 602);
    tide.pass(5.0);
    let mut late = tide.greeted(PLAIN);
    late.resume(TOKEN, &live.session, 5);
    for seq in 6..=602 {
        assert_eq!(late.json()["s"], seq);
    }
    assert_eq!(late.json(), json!({"t": "RESUMED", "s": 602, "op": 0, "d": {"_trace": ["tidegate"]}}));
    tide.dispatch(1);
    late.dispatch("NUMBERED");
    assert_eq!(tide.reached(), (1, 1));
    assert_eq!(tide.judged().total.client_closes, [(4000, 1)].into());
}

#[test]
fn a_long_cooldown_is_told_once_and_then_held_quietly() {
    let tide = tide("discord.gateway.reconnect.rate_limited_grace = 0\n");
    let mut live = tide.live();
    tide.strike(&json!({"close": 4008}));
    let (code, reason) = live.bot.closed();
    assert!(code == 4000 && reason.starts_with("Discord said that too much was sent (4008): held for 1"), "{reason}");
    let mut again = tide.greeted(PLAIN);
    again.resume(TOKEN, &live.session, live.bot.seq);
    assert_eq!(again.json()["t"], "RESUMED");
    assert!(again.is_quiet(20.0));
    again.beat();
    assert_eq!(again.json()["op"], 11);
    assert_eq!(tide.judged().total.connections, 1);
}

#[test]
fn d7_without_a_session_start_a_bot_is_told_after_a_minute() {
    let tide = tide("");
    tide.control("bot", &json!({"bot": BOT, "remaining": 0, "reset_after_ms": 80_000_000}));
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    assert!(bot.is_quiet(30.0));
    assert_eq!(bot.json(), invalid());
    let (code, reason) = bot.closed();
    assert!(code == 4000 && reason.starts_with("no session start is left: held for 7"), "{reason}");
    let mut again = tide.greeted(PLAIN);
    again.identify(TOKEN, &json!({}));
    assert!(again.is_quiet(60.0));
    // A new day begins sooner than it was told.
    tide.control("bot", &json!({"bot": BOT, "remaining": 1000, "reset_after_ms": 86_000_000}));
    ready(again);
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn a_library_that_gives_up_on_ready_and_comes_again_costs_one_identify() {
    let tide = tide("");
    tide.control("weather", &json!({"on": "identify", "do": {"delay_ms": 40_000}}));
    for _ in 0..2 {
        let mut bot = tide.greeted(PLAIN);
        bot.identify(TOKEN, &json!({}));
        assert!(bot.is_quiet(15.0));
        bot.close(1000);
        assert_eq!(bot.next(), Heard::Close(Some(1000), String::new()));
    }
    tide.live();
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn while_discord_cannot_be_reached_a_bot_waits_quietly() {
    let tide = tide("");
    tide.force(&json!({"route": "/gateway/bot", "times": 2, "answer": "502"}));
    tide.control("weather", &json!({"on": "connect", "do": {"refuse": 503}, "times": 2}));
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    ready(bot);
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn d50_a_request_for_members_that_discord_dropped_is_made_again() {
    let tide = tide("");
    let mut live = tide.live_with(PLAIN, &json!({"intents": 515}));
    let limited = json!({"opcode": 8, "retry_after": 2.0, "meta": {"guild_id": "1"}});
    live.bot.say(&json!({"op": 8, "d": {"guild_id": "1", "query": "", "limit": 0}}));
    live.bot.dispatch("GUILD_MEMBERS_CHUNK");
    tide.control("dispatch", &json!({"t": "RATE_LIMITED", "d": limited}));
    assert_eq!(live.bot.dispatch("RATE_LIMITED")["d"], limited);
    until("it is made again", || tide.judged().total.by_op.get(&8) == Some(&2));
}

#[test]
fn a_late_resume_cuts_no_cooldown_short() {
    let tide = tide("discord.gateway.reconnect.rate_limited_grace = 0\ndiscord.gateway.resume_buffer = 300\n");
    let mut live = tide.live();
    tide.dispatch(600);
    live.bot.until(|value| value["s"] == 602);
    tide.strike(&json!({"close": 4008}));
    assert_eq!(live.bot.closed().0, 4000);
    let mut late = tide.greeted(PLAIN);
    late.resume(TOKEN, &live.session, 5);
    assert!(late.is_quiet(20.0));
    let shard = &tide.told()["shards"][0];
    assert_eq!((&shard["state"], &shard["why"]), (&json!("waiting"), &json!("cooldown")), "{shard}");
    assert_eq!(tide.judged().total.connections, 1);
}
