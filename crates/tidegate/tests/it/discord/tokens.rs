//! Whose call it is: bots, webhooks, interactions, nobody.

use serde_json::{Value, json};

use super::{Asks, BOT, OTHER, TOKEN, Tide, say, statuses};
use crate::client::Client;
use crate::fake::until;

fn callback(id: u64, token: &str) -> Asks<'static> {
    Asks::new("POST", format!("/interactions/{id}/{token}/callback")).json(&json!({"type": 5}))
}

fn execute(id: u64, token: &str, number: u64) -> Asks<'static> {
    Asks::new("POST", format!("/webhooks/{id}/{token}?wait=true")).json(&json!({"content": format!("#{number}")}))
}

fn bot(tide: &Tide, name: &str) -> Value {
    let status = tide.house.status();
    status["bots"].as_array().unwrap().iter().find(|bot| bot["bot"] == name).cloned().unwrap_or_default()
}

#[test]
fn bots_are_named_by_their_application() {
    let tide = Tide::new("");
    tide.ask(&say(7, 1));
    tide.ask(&Asks::new("GET", "/users/@me").with("Authorization", "Bearer abcdefgh"));
    tide.ask(&Asks::new("GET", "/gateway").without("Authorization"));
    tide.ask(&execute(5, "hooktoken", 1));
    let status = tide.house.status();
    let named: Vec<(&str, Option<&str>)> = status["bots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bot| (bot["bot"].as_str().unwrap(), bot["token"].as_str()))
        .collect();
    assert_eq!(named.len(), 3, "{named:?}");
    assert!(named.contains(&(BOT, Some("accepted"))) && named.contains(&("tokenless", None)), "{named:?}");
    assert!(tide.house.admin("/metrics").text().contains(&format!("platform=\"discord\",bot=\"{BOT}\"")));
}

#[test]
fn only_listed_applications_are_served() {
    let tide = Tide::new(&format!("bots = [\"{BOT}\"]\n"));
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    assert_eq!(tide.ask(&say(7, 2).by(OTHER)).status, 403);
    assert_eq!(tide.ask(&Asks::new("GET", "/users/@me").with("Authorization", "Bot a b")).status, 401);
    assert_eq!(tide.stats().total.calls, 1);
}

#[test]
fn d73_a_full_budget_and_a_global_refusal_do_not_delay_interactions() {
    let tide = Tide::far(400);
    assert_eq!(tide.ask(&Asks::new("GET", "/users/@me")).status, 200);
    tide.force(&json!({"route": "/channels/{id}/messages", "answer": {"kind": "global", "retry_after": 60.0}}));
    let mut held: Vec<Client> = (0..150).map(|number| tide.begin(&say(1000 + number, number))).collect();
    let known = tide.refusal_known();
    assert!(tide.house.held() > 100, "they wait for its end");
    let callbacks = tide.all((0..60).map(|number| callback(9000 + number, &format!("aW50tok{number}"))));
    assert_eq!(statuses(&callbacks), [(204, 60)].into());
    assert!(callbacks.iter().all(|answer| answer.outcome() == "bypass"), "{:?}", callbacks[0]);
    assert!(tide.house.held() > 100, "the budget is as full as before");
    let answers: Vec<_> = held.iter_mut().map(|client| client.read().unwrap()).collect();
    assert_eq!(statuses(&answers), [(200, 150)].into(), "{:?}", answers.iter().find(|answer| answer.status != 200));
    tide.assert_waited_out(known);
}

#[test]
fn d74_each_interaction_stands_for_itself() {
    let tide = Tide::new("");
    tide.force(&json!({"major": "1", "answer": {"kind": "user", "retry_after": 60.0}}));
    let refused = tide.ask(&callback(1, "aW50one"));
    assert_eq!((refused.status, refused.header("x-ratelimit-scope")), (429, Some("user")));
    assert_eq!(tide.ask(&callback(2, "aW50two")).status, 204);
    let again = tide.ask(&callback(1, "aW50one"));
    assert_eq!((again.status, again.header("via")), (429, Some("1.1 tidegate")));
    tide.assert_clean();
}

#[test]
fn d75_a_hundred_thousand_interactions_leave_nothing_behind() {
    const THREADS: u64 = 4;
    let tide = Tide::new("log = \"info\"\n");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let listen = tide.house.listen;
            scope.spawn(move || {
                let mut client = Client::connect(listen);
                for first in (0..25_000_u64).step_by(100) {
                    let mut requests = Vec::new();
                    for id in (first..first + 100).map(|number| thread * 1_000_000 + number + 1) {
                        let path = format!("/api/v10/interactions/{id}/aW50secretinteraction{id}/callback");
                        let head = "Host: a\r\nContent-Type: application/json\r\nContent-Length: 10";
                        requests.extend(format!("POST {path} HTTP/1.1\r\n{head}\r\n\r\n{{\"type\":5}}").into_bytes());
                    }
                    client.write(&requests);
                    for _ in 0..100 {
                        assert_eq!(client.read().unwrap().status, 204);
                    }
                }
            });
        }
    });
    let tokenless = bot(&tide, "tokenless");
    assert_eq!((&tokenless["peers"], &tokenless["calls"], &tokenless["held"]), (&0.into(), &0.into(), &0.into()));
    for shown in [tide.house.status().to_string(), tide.house.admin("/metrics").text(), tide.house.output()] {
        assert!(!shown.contains("secretinteraction"));
    }
    assert_eq!(tide.stats().misuse.needless_authorization, 0);
}

#[test]
fn d72_a_shared_refusal_parks_all_tokens_of_its_webhook() {
    let tide = Tide::new("");
    tide.force(&json!({"major": "5", "answer": {"kind": "shared", "retry_after": 30.0}}));
    let quick = |token, number| execute(5, token, number).with("X-Tidegate-Max-Hold", "1s");
    let first = tide.ask(&quick("aW50one", 1));
    assert_eq!((first.status, first.header("x-ratelimit-scope")), (429, Some("shared")));
    for number in 2..12 {
        let parked = tide.ask(&quick(if number % 2 == 0 { "aW50two" } else { "aW50one" }, number));
        assert_eq!((parked.status, parked.header("via")), (429, Some("1.1 tidegate")));
    }
    assert_eq!(tide.ask(&quick("x", 1).by(OTHER)).status, 429, "whoever calls");
    assert_eq!(tide.ask(&execute(6, "aW50one", 1)).status, 200);
    assert_eq!(
        (tide.stats().total.refused_429, tide.house.status()["discord"]["invalid_requests"].as_u64()),
        (1, Some(0))
    );
}

#[test]
fn d79_webhooks_of_one_channel_learn_of_their_shared_limit_by_one_refusal_each() {
    let tide = Tide::new("");
    tide.discord.with(|model| (5..8).for_each(|id| model.link_webhook(id, 77)));
    let answers = tide.all((0..60).map(|number| execute(5 + number % 3, "hooktoken", number)));
    assert_eq!(statuses(&answers), [(200, 60)].into());
    let stats = tide.stats();
    // Which webhooks write to one channel nobody tells; each is refused once.
    assert!(stats.total.refused_429 <= 3 && stats.total.shared_429 == stats.total.refused_429, "{:?}", stats.total);
}

#[test]
fn d77_a_webhook_past_its_limit_answers_in_time_and_forgets_who_left() {
    let tide = Tide::new("");
    let first = tide.all((0..30).map(|number| execute(5, "hooktoken", number)));
    assert_eq!(statuses(&first), [(200, 30)].into());
    let mut more: Vec<Client> =
        (0..4).map(|number| tide.begin(&execute(5, "hooktoken", number).with("X-Tidegate-Max-Hold", "3s"))).collect();
    for client in &mut more {
        let answer = client.read().unwrap();
        assert!(matches!(answer.status, 200 | 429), "{answer:?}");
    }
    let leaving = tide.begin(&execute(5, "hooktoken", 99));
    until("it is held", || tide.house.held() > 0);
    drop(leaving);
    until("it is cancelled", || tide.house.held() == 0);
    tide.assert_clean();
}

#[test]
fn d78_a_webhook_that_is_gone_is_not_called_again_but_one_without_that_message_is() {
    let tide = Tide::new("");
    tide.discord.with(|model| model.kill_webhook(5));
    let gone = tide.ask(&execute(5, "hooktoken", 1));
    assert_eq!((gone.status, &gone.json()["code"]), (404, &10015.into()));
    for number in 0..20 {
        let gone = tide.ask(&execute(5, "hooktoken", number));
        assert_eq!((gone.status, &gone.json()["code"], gone.header("via")), (404, &10015.into(), Some("1.1 tidegate")));
    }
    assert_eq!((tide.stats().misuse.into_dead_webhook, tide.stats().total.calls), (1, 1));
    let edit = || Asks::new("PATCH", "/webhooks/6/hooktoken/messages/9").json(&json!({"content": "a"}));
    tide.force(&json!({"major": "6", "times": 2, "answer": "404"}));
    for _ in 0..2 {
        assert_eq!(tide.ask(&edit()).json()["code"], 10008);
    }
    assert_eq!(tide.ask(&execute(6, "hooktoken", 1)).status, 200);
}

#[test]
fn a_revoked_token_is_let_go_and_the_bot_beside_it_is_untouched() {
    let tide = Tide::far(5);
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    assert_eq!(tide.ask(&say(8, 1).by(OTHER)).status, 200);
    tide.discord.with(|model| model.revoke(TOKEN));
    let answers = tide.all((0..300).map(|number| say(1000 + number, number)));
    assert_eq!(statuses(&answers), [(401, 300)].into());
    let reached = tide.stats().by_status[&401];
    assert!(reached <= 60, "{reached}");
    assert_eq!(bot(&tide, BOT)["token"], "refused");
    assert_eq!(statuses(&tide.all((0..5).map(|number| say(8, 2 + number).by(OTHER)))), [(200, 5)].into());
}

#[test]
fn a_401_on_a_webhooks_token_says_nothing_of_the_bots() {
    let tide = Tide::new("");
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    tide.force(&json!({"major": "5", "times": 4, "answer": "401"}));
    for number in 0..4 {
        assert_eq!(tide.ask(&execute(5, "hooktoken", number)).status, 401);
    }
    assert_eq!(tide.ask(&say(7, 2)).status, 200);
    assert_eq!(tide.ask(&execute(6, "hooktoken", 1)).status, 200);
    assert_eq!(bot(&tide, "tokenless")["token"], serde_json::Value::Null);
}

#[test]
fn no_token_of_a_bot_webhook_or_interaction_shows_anywhere() {
    let mut tide = Tide::new("");
    let ask = |verb, path: &str| Asks::new(verb, path.replace("TOKEN", "hooksecrethooksecret"));
    let mut shown = vec![tide.ask(&say(7, 1)), tide.ask(&callback(9, "aW50hooksecret"))];
    for answer in ["401", "403", "502", "drop_before_answer", "unknown_webhook", "html"] {
        for (verb, path) in [("POST", "/webhooks/5/TOKEN"), ("PATCH", "/webhooks/5/TOKEN/messages/@original")] {
            tide.force(&json!({"times": 2, "answer": answer}));
            shown.push(tide.ask(&ask(verb, path).json(&json!({"content": "a"})).with("X-Tidegate-Max-Hold", "1s")));
        }
        tide.pass(70.0);
        for path in ["/webhooks/5/TOKEN/../x", "/webhooks/%35/TOKEN", "/webhooks/5/TOKE%4e", "/hooks/TOKEN"] {
            shown.push(tide.ask(&ask("GET", path)));
        }
    }
    for written in [format!("Bot {TOKEN} x"), format!("Bot\t{TOKEN}"), TOKEN.to_owned(), format!("Bearer {TOKEN}")] {
        shown.push(tide.ask(&Asks::new("GET", "/users/@me").with("Authorization", written)));
    }
    shown.extend(["/", "/metrics", "/v1/status", "/readyz"].map(|path| tide.house.admin(path)));
    let admin = format!("http://{}", tide.house.admin);
    let table = std::process::Command::new(env!("CARGO_BIN_EXE_tidegate")).args(["status", "--admin", &admin]).output();
    let table = String::from_utf8(table.unwrap().stdout).unwrap();
    assert!(table.contains(BOT) && table.contains("tokenless"), "{table}");
    tide.house.terminate();
    assert_eq!(tide.house.wait(), Some(0));
    let output = tide.house.output();
    for secret in ["discordsecret", "hooksecret"] {
        // Discord itself tells a webhook's token to whoever has it.
        for answer in shown.iter().filter(|answer| answer.header("via") != Some("1.1 google")) {
            assert!(!format!("{:?} {}", answer.headers, answer.text()).contains(secret), "{answer:?}");
        }
        assert!(!table.contains(secret) && !output.contains(secret), "{output}");
    }
}
