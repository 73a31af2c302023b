//! A bot logs in, and hears what Discord says.

use serde_json::json;

use super::{PLAIN, numbers, ready, tide};
use crate::discord::{OTHER, TOKEN};
use crate::fake::until;

#[test]
fn a_bot_logs_in_through_every_address_and_compression() {
    let tide = tide("");
    for (shard, target) in [
        "/?v=10&encoding=json",
        "//?v=10&encoding=json",
        "/?v=10",
        "/",
        "/resume/?encoding=json&v=10",
        "/?v=10&encoding=json&compress=zlib-stream",
        "/?v=10&encoding=json&compress=zstd-stream",
    ]
    .into_iter()
    .enumerate()
    {
        let mut live = tide.live_with(target, &json!({"shard": [shard, 7], "compress": true}));
        tide.control("dispatch", &json!({"t": "NUMBERED", "d": {}, "count": 500, "shard": shard}));
        let seqs = numbers(&mut live.bot, 500);
        assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{target}");
    }
    let total = tide.judged().total;
    assert_eq!((total.identifies, total.ready, total.spacing_violations), (7, 7, 0));
}

#[test]
fn ready_names_tidegate_and_is_else_as_discord_sent_it() {
    let tide = tide("");
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({"shard": [0, 1]}));
    let ready = bot.json();
    assert_eq!(ready["d"]["resume_gateway_url"], format!("ws://{}", tide.house.listen));
    assert_eq!((&ready["op"], &ready["s"], &ready["d"]["v"]), (&json!(0), &json!(1), &json!(10)));
    let elsewhere = super::tide("public_url = \"wss://gateway.example\"");
    let mut bot = elsewhere.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    assert_eq!(bot.json()["d"]["resume_gateway_url"], "wss://gateway.example");
}

#[test]
fn heartbeats_are_answered_at_once_before_identify_and_while_ready_is_awaited() {
    let tide = tide("");
    // It has to wait for its bucket.
    let _first = tide.live_with(PLAIN, &json!({"shard": [0, 2]}));
    let mut bot = tide.greeted(PLAIN);
    bot.beat();
    assert_eq!(bot.json()["op"], 11);
    bot.identify(TOKEN, &json!({"shard": [1, 2]}));
    bot.beat();
    assert_eq!(bot.json()["op"], 11);
    let mut live = ready(bot);
    live.bot.beat();
    assert_eq!(live.bot.json()["op"], 11);
    assert_eq!(tide.judged().total.spacing_violations, 0);
}

#[test]
fn identify_and_resume_before_hello_are_taken() {
    let tide = tide("");
    let mut bot = tide.bot(PLAIN);
    bot.identify(&format!("Bot {TOKEN}"), &json!({}));
    assert_eq!(bot.json()["op"], 10);
    let live = ready(bot);
    let mut again = tide.bot(PLAIN);
    again.resume(TOKEN, &live.session, 1);
    assert_eq!(again.json()["op"], 10);
    again.dispatch("RESUMED");
}

#[test]
fn binary_frames_and_fragments_are_read() {
    let tide = tide("");
    let mut bot = tide.greeted(PLAIN);
    let identify = json!({"op": 2, "d": {"token": TOKEN, "intents": 513}}).to_string();
    let (first, rest) = identify.as_bytes().split_at(10);
    bot.frame(0x02, first);
    bot.frame(0x89, b"between");
    bot.frame(0x80, rest);
    assert_eq!(bot.next(), super::client::Heard::Pong(b"between".to_vec()));
    ready(bot);
}

#[test]
fn identify_goes_out_as_the_bot_wrote_it_but_for_compress() {
    let tide = tide("");
    let presence = json!({"status": "idle", "activities": [{"name": "\u{fc}\u{1f600}", "type": 0}]});
    let _live = tide.live_with(PLAIN, &json!({"compress": "zlib-stream", "presence": presence, "large_threshold": 50}));
    let stats = tide.judged();
    assert_eq!(stats.total.identifies, 1);
    assert_eq!(stats.total.closes, std::collections::BTreeMap::new());
}

#[test]
fn two_bots_and_two_shard_counts_have_sessions_of_their_own() {
    let tide = tide("");
    let one = tide.live_with(PLAIN, &json!({"shard": [0, 1]}));
    let two = tide.live_with(PLAIN, &json!({"shard": [0, 2]}));
    let mut other = tide.greeted(PLAIN);
    other.identify(OTHER, &json!({}));
    let other = ready(other);
    assert!(one.session != two.session && two.session != other.session);
    tide.connections(3);
    // A RESUME must carry the token that the session was made with.
    let mut thief = tide.greeted(PLAIN);
    thief.resume(OTHER, &one.session, 1);
    assert_eq!(thief.json(), json!({"t": null, "s": null, "op": 9, "d": false}));
}

#[test]
fn commands_go_through_the_send_queue() {
    let tide = tide("");
    let mut live = tide.live();
    for number in 0..150 {
        live.bot.say(&json!({"op": 4, "d": {"guild_id": "1", "channel_id": number.to_string()}}));
    }
    live.bot.say(&json!({"op": 37, "d": {"subscriptions": {"1": {"typing": true}}}}));
    until("a hundred went", || tide.judged().total.by_op.get(&4) == Some(&100));
    until("and the rest in the next minute", || tide.judged().total.by_op.get(&4) == Some(&150));
    let total = tide.judged().total;
    assert!(total.worst_minute <= 120 && total.worst_minute_queued <= 100, "{total:?}");
    assert_eq!(total.closes.len(), 0);
}

#[test]
fn no_token_is_in_what_is_printed() {
    let tide = tide("");
    let live = tide.live();
    let mut again = tide.greeted(PLAIN);
    again.resume(TOKEN, &live.session, 1);
    again.dispatch("RESUMED");
    let mut bad = tide.greeted(PLAIN);
    bad.identify(&TOKEN.replace("secret0", "secret9"), &json!({"shard": [0, 1]}));
    bad.closed();
    let (output, status) = (tide.house.output(), tide.house.status().to_string());
    assert!(output.contains("IDENTIFY"), "{output}");
    assert!(!output.contains("discordsecret") && !status.contains("discordsecret"), "{output}{status}");
}

#[test]
fn a_full_queue_is_counted_and_the_connection_stays() {
    let tide = tide("discord.gateway.send.queue_bound = 10\n");
    let mut live = tide.live();
    for number in 0..300 {
        live.bot.say(&json!({"op": 4, "d": {"guild_id": number.to_string()}}));
    }
    live.bot.beat();
    assert_eq!(live.bot.json()["op"], 11);
    assert_eq!(tide.told()["counters"]["refused"], 190);
    assert_eq!(tide.told()["shards"][0]["commands_waiting"], 10);
}

#[test]
fn many_shards_that_log_in_at_once_are_spaced_and_all_get_in() {
    let tide = tide("");
    tide.control("bot", &json!({"bot": crate::discord::BOT, "max_concurrency": 4, "shards": 12}));
    let mut bots: Vec<_> = (0..12)
        .map(|id| {
            let mut bot = tide.greeted(PLAIN);
            bot.identify(TOKEN, &json!({"shard": [id, 12]}));
            bot
        })
        .collect();
    for bot in bots.drain(..) {
        ready(bot);
    }
    let total = tide.judged().total;
    assert_eq!((total.identifies, total.ready, total.spacing_violations), (12, 12, 0));
    assert_eq!(tide.told()["session_starts"]["in_24_h"], 12);
}
