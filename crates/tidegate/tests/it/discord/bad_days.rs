//! Refusals over all routes, bans, invalid requests, failures.

use serde_json::{Value, json};
use tidegate_sandbox::discord::Rate;

use super::{Asks, OTHER, Tide, answers, say, statuses};
use crate::client::Client;

fn discord(tide: &Tide) -> Value {
    tide.house.status()["discord"].clone()
}

fn quick(asks: Asks<'static>) -> Asks<'static> {
    asks.with("X-Tidegate-Max-Hold", "1s")
}

#[test]
fn of_320_clients_who_meet_a_global_refusal_none_calls_into_it() {
    let tide = Tide::far(400);
    assert_eq!(tide.ask(&Asks::new("GET", "/users/@me")).status, 200);
    tide.force(&json!({"answer": {"kind": "global", "retry_after": 60.0}}));
    let clients: Vec<_> = (0..320).map(|number| tide.begin(&say(1000 + number, number))).collect();
    let known = tide.refusal_known();
    assert_eq!(statuses(&answers(clients)), [(200, 320)].into());
    tide.assert_waited_out(known);
}

#[test]
fn a_refusal_within_the_hold_limit_is_waited_out() {
    let tide = Tide::new("");
    tide.force(&json!({"answer": {"kind": "user", "retry_after": 2.0}}));
    let answer = tide.ask(&say(7, 1));
    assert_eq!((answer.status, answer.outcome()), (200, "held"));
    assert_eq!(tide.ask(&say(7, 2)).status, 200);
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 1);
}

#[test]
fn d63_waits_that_make_no_sense_are_none() {
    use crate::fake::{Act, Fake};
    for (header, body) in [("Wed, 21 Oct 2015 07:28:00 GMT", "\"soon\""), ("-1", "-5"), ("0", "0"), ("NaN", "1e300")] {
        let fake = Fake::start(move |number, _| {
            let told = vec![
                ("Content-Type", "application/json".to_owned()),
                ("Retry-After", header.to_owned()),
                ("X-RateLimit-Scope", "user".to_owned()),
            ];
            match number {
                0 => Act::Answer(429, told, format!("{{\"message\":\"\",\"retry_after\":{body},\"global\":false}}")),
                _ => Act::status(200, "{}"),
            }
        });
        let config = format!("time_scale = 0.01\ndiscord.api = \"http://{}\"\n", fake.address);
        let house = crate::house::House::start(&config);
        let asks = say(7, 1);
        let headers: Vec<(&str, &str)> = asks.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = crate::client::ask(house.listen, "POST", &asks.path, &headers, &asks.body);
        assert_eq!((answer.status, answer.outcome()), (200, "held"), "{header}");
        let held: u64 = answer.header("x-tidegate-held-ms").unwrap().parse().unwrap();
        assert!(held >= 5000, "{held}");
    }
}

#[test]
fn d64_d65_a_ban_of_the_address_stops_everything_of_every_bot() {
    for (shape, told) in [("html", None), ("text", Some(120)), ("cloudflare", None)] {
        let tide = Tide::new("");
        assert_eq!(tide.ask(&say(7, 1)).status, 200);
        assert_eq!(tide.ask(&say(8, 1).by(OTHER)).status, 200);
        let mut answer = json!({"kind": shape});
        if let Some(told) = told {
            answer["retry_after"] = told.into();
        }
        tide.force(&json!({"answer": answer}));
        let banned = tide.ask(&quick(say(7, 2)));
        assert_eq!((banned.status, banned.header("content-type")), (429, Some("application/json")), "{banned:?}");
        assert_eq!(banned.header("via"), Some("1.1 tidegate"));
        let calls = tide.stats().total.calls;
        let gateway = Asks::new("GET", "/gateway/bot").by(OTHER);
        let callback = Asks::new("POST", "/interactions/5/aW50x/callback").json(&json!({"type": 5}));
        for asks in [quick(say(9, 3)), quick(say(8, 2).by(OTHER)), gateway, callback] {
            let refused = tide.ask(&asks);
            let wait = refused.json()["retry_after"].as_f64().unwrap();
            assert_eq!((refused.status, refused.header("x-ratelimit-scope")), (429, Some("user")));
            assert!(wait > 10.0 && wait <= told.unwrap_or(60).into(), "{shape}: {wait}");
        }
        assert_eq!(tide.stats().total.calls, calls, "{shape}");
        assert!(discord(&tide)["banned_s"].as_u64().unwrap() > 0);
        tide.house.has_said("banned");
        tide.pass(f64::from(told.unwrap_or(60)) + 10.0);
        assert_eq!(tide.ask(&say(7, 4)).status, 200);
        assert_eq!((tide.stats().into_ban, &discord(&tide)["banned_s"]), (0, &Value::Null));
    }
}

#[test]
fn a_ban_ends_the_wait_of_those_who_are_held() {
    let tide = Tide::new("");
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    let mut held: Vec<Client> = (0..30).map(|number| tide.begin(&say(7, 2 + number))).collect();
    crate::fake::until("they are held", || tide.house.held() > 10);
    // For that channel alone: one of the held ones may be released at this moment.
    tide.force(&json!({"major": "8", "answer": "html"}));
    assert_eq!(tide.ask(&quick(say(8, 1))).status, 429);
    let answers: Vec<_> = held.iter_mut().map(|client| client.read().unwrap()).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty() && refused.iter().all(|answer| answer.json()["retry_after"].as_f64().unwrap() > 10.0));
}

#[test]
fn calls_that_only_fail_are_stopped_before_ten_thousand_and_healthy_ones_go_on() {
    let wide = Rate::new(100_000, 1000);
    let tide = Tide::limits(
        |settings| (settings.limits.global, settings.limits.read) = (wide, wide),
        "log = \"info\"\ndiscord.max_global = 10000\n",
    );
    tide.force(&json!({"route": "/channels/{id}/pins", "times": 100_000, "answer": "403"}));
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let listen = tide.house.listen;
            scope.spawn(move || {
                let asks = Asks::new("GET", format!("/channels/{}/pins", 100 + thread));
                let headers: Vec<_> = asks.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let mut client = Client::connect(listen);
                for number in 0.. {
                    client.send("GET", &asks.path, &headers, b"");
                    if client.read().unwrap().status == 429 {
                        break;
                    }
                    assert!(number < 10_000);
                }
            });
        }
    });
    let stats = tide.stats();
    assert!((9000..9100).contains(&stats.total.invalid), "{}", stats.total.invalid);
    assert_eq!(stats.bans, 0);
    let refused = tide.ask(&Asks::new("GET", "/channels/100/pins"));
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert!(refused.json()["retry_after"].as_f64().unwrap() > 60.0);
    assert_eq!(tide.ask(&say(7, 2)).status, 200);
    assert!(discord(&tide)["warning"].as_str().unwrap().contains("refused"));
    tide.house.has_said("10,000");
    assert!(tide.house.admin("/metrics").text().contains("tidegate_discord_invalid_requests 9"));
}

#[test]
fn failures_are_told_as_what_they_are() {
    let tide = Tide::new("");
    let get = || Asks::new("GET", "/channels/7");
    assert_eq!(tide.ask(&get()).status, 200);
    for answer in ["502", "500", "drop_before_answer", "lose_answer"] {
        tide.force(&json!({"answer": answer}));
        assert_eq!(tide.ask(&get()).status, 200, "a read is repeated: {answer}");
        tide.force(&json!({"answer": answer}));
        assert_eq!(tide.ask(&Asks::new("PUT", "/channels/7/pins/8")).status, 204, "{answer}");
        tide.force(&json!({"answer": answer}));
        let edit = Asks::new("PATCH", "/channels/7/messages/8").json(&json!({"content": "a"}));
        assert_eq!(tide.ask(&edit).status, 200, "an edit is repeated: {answer}");
        tide.force(&json!({"answer": answer}));
        let unknown = tide.ask(&say(7, 1));
        // What Discord answered is told as it came; no answer is told as that.
        let status = answer.parse().unwrap_or(503);
        assert_eq!((unknown.status, unknown.outcome()), (status, "unknown"), "{answer}");
        if status == 503 {
            assert_eq!(unknown.header("content-type"), Some("application/json"));
        }
    }
    let sends = tide.stats().by_route["POST /channels/{id}/messages"].calls;
    assert_eq!(sends, 4, "never twice");
    tide.discord.stop();
    tide.pass(1.0);
    let down = tide.ask(&say(7, 2));
    assert_eq!((down.status, down.header("retry-after"), down.outcome()), (503, Some("5"), "refused"), "{down:?}");
}
