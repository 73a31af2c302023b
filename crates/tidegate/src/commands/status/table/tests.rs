//! What people read.

use serde_json::json;

use super::table;

#[test]
fn platforms_tokens_and_what_does_not_answer_are_told_apart() {
    let bot = |platform: &str, id: &str, key: &str, token: Option<&str>| {
        json!({"platform": platform, "bot": id, "key": key, "token": token, "held": 0, "in_flight": 1, "peers": 2,
            "cooldowns": [], "counters": [{"surface": "send", "class": "send", "outcome": "delivered", "count": 3}]})
    };
    let status = json!({
        "version": "1.2.3", "uptime_s": 7384, "connections": 4, "store": "memory", "draining": false,
        "telegram": {"policy": "telegram", "api": "http://h/", "reachable": false},
        "discord": {"policy": "discord", "reachable": null, "invalid_requests": 0, "banned_s": null},
        "gateway": {"bots": [{"bot": "8", "key": "0c", "session_starts": {"left": 900, "in_24_h": 7},
            "shards": [{"shard": [0, 1], "state": "waiting", "why": "backoff", "left_s": 5, "bot_attached": true}]}]},
        "bots": [bot("telegram", "7", "0a", Some("accepted")), bot("telegram", "7", "0b", Some("untried")),
            bot("discord", "8", "0c", Some("accepted")), bot("discord", "tokenless", "0d", None)],
    });
    expect_test::expect![[r"
        tidegate 1.2.3, up 2 h 3 min; 4 connections; policies telegram, discord; state in memory
        Telegram does not answer at http://h/: bots get 503

        platform  bot                  token       held in flight   peers  cooling
        telegram  7#0a                 accepted       0         1       2
        telegram  7#0b                 untried        0         1       2
        discord   8                    accepted       0         1       2
        discord   tokenless            -              0         1       2

        discord bot          shard     state        why                    waits s bot here starts left started in 24 h
        8                    0/1       waiting      backoff                      5 yes              900               7

        platform  bot                  surface    class         outcome          count
        telegram  7#0a                 send       send          delivered            3
        telegram  7#0b                 send       send          delivered            3
        discord   8                    send       send          delivered            3
        discord   tokenless            send       send          delivered            3
    "]]
    .assert_eq(&table(&status));
}
