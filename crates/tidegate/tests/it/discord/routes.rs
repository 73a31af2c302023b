//! Any route, any version, any body.

use serde_json::json;

use super::{Asks, TOKEN, Tide, statuses};
use crate::client::ask;
use crate::fake::{Act, Fake};
use crate::house::House;

fn before(fake: &Fake) -> House {
    House::start(&format!("time_scale = 0.01\ndiscord.api = \"http://{}\"\n", fake.address))
}

#[test]
fn d81_routes_that_nobody_knows_pass() {
    let tide = Tide::new("");
    let routes = [
        "PUT /channels/1/voice-status",
        "GET /guilds/1/soundboard-sounds/2",
        "POST /channels/1/polls/2/expire",
        "GET /skus/5/subscriptions/6",
        "PUT /guilds/12345678901234567/incident-actions",
        "GET /sticker-packs",
        "PUT /users/@me/applications/1/role-connection",
        "POST /applications/1/entitlements/2/consume",
        "GET /soundboard-default-sounds",
        "DELETE /stage-instances/1234567890123456",
        "GET /guilds/99999999999999999999/onboarding?a=b%20c",
        "QUERY /things-of/tomorrow/7/%E2%9C%93",
    ];
    let answers = tide.all(routes.map(|route| {
        let (verb, path) = route.split_once(' ').unwrap();
        Asks::new(verb, path)
    }));
    assert_eq!(statuses(&answers), [(200, 12)].into(), "{answers:?}");
    assert_eq!(tide.stats().total.calls, 12);
    tide.assert_clean();
}

#[test]
fn d88_the_path_and_all_else_go_on_as_they_came() {
    let fake = Fake::start(|_, _| {
        let headers = vec![("Content-Type", "application/json".to_owned()), ("X-RateLimit-Global-Not", "1".to_owned())];
        Act::Answer(200, headers, "{}".to_owned())
    });
    let house = before(&fake);
    let authorization = format!("Bot {TOKEN}");
    let headers = [
        ("Authorization", authorization.as_str()),
        ("X-Audit-Log-Reason", "why%20not"),
        ("X-Discord-Locale", "de"),
        ("User-Agent", "DiscordBot (https://example.org, 1)"),
        ("Content-Type", "application/json"),
    ];
    for target in ["/api/users/@me?a=%20b", "/api/v6/channels/5/messages?limit=3", "/api/v999/x//y/", "/api/v10"] {
        let answer = ask(house.listen, "POST", target, &headers, b"{\"content\":1}");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{target}");
        let seen = fake.seen().pop().unwrap();
        assert_eq!(
            (seen.target.as_str(), seen.method.as_str(), seen.text().as_str()),
            (target, "POST", "{\"content\":1}")
        );
        for (name, value) in &headers {
            assert_eq!(seen.header(&name.to_ascii_lowercase()), Some(*value));
        }
    }
    for target in ["/api/v10/../x", "/api/v10/%2e%2e/x", "/api/v10/a%2fb", "/api/v10/a%00", "/api/v10/%d9%a1"] {
        assert_eq!(ask(house.listen, "GET", target, &headers, b"").status, 400, "{target}");
    }
    assert_eq!(ask(house.listen, "GET", "/apix", &headers, b"").status, 404);
    assert_eq!(fake.count(), 4);
}

#[test]
fn d80_uploads_pass_as_they_are_small_and_large() {
    let tide = Tide::new("");
    for (number, size) in [10, 300_000, 3_000_000].into_iter().enumerate() {
        let payload = format!("{{\"content\":\"#{number}\"}}");
        let mut body = format!(
            "--b0und\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n{payload}\r\n--b0und\r\n\
             Content-Disposition: form-data; name=\"files[0]\"; filename=\"a.bin\"\r\n\r\n"
        )
        .into_bytes();
        body.resize(body.len() + size, b'x');
        body.extend(b"\r\n--b0und--\r\n");
        let mut asks =
            Asks::new("POST", "/channels/7/messages").with("Content-Type", "multipart/form-data; boundary=b0und");
        asks.body = body;
        let answer = tide.ask(&asks);
        assert_eq!((answer.status, answer.json()["attachments"][0]["size"].as_u64()), (200, Some(size as u64)));
    }
    let uploads = tide.discord.with(|model| model.log().filter(|entry| entry.files == 1).count());
    assert_eq!(uploads, 3);
    tide.assert_clean();
}

#[test]
fn d86_a_bucket_that_changes_its_name_at_every_answer_stops_nothing() {
    let fake = Fake::start(|number, _| {
        let headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("X-RateLimit-Limit", "5".to_owned()),
            ("X-RateLimit-Remaining", (4 - number % 5).to_string()),
            ("X-RateLimit-Reset-After", "2.0".to_owned()),
            ("X-RateLimit-Bucket", format!("hash{}", number % 2)),
        ];
        Act::Answer(200, headers, "{}".to_owned())
    });
    let house = before(&fake);
    let authorization = format!("Bot {TOKEN}");
    let headers = [("Authorization", authorization.as_str()), ("X-Tidegate-Max-Hold", "10min")];
    for verb in ["POST", "PUT"].repeat(10) {
        assert_eq!(ask(house.listen, verb, "/api/v10/channels/5/things", &headers, b"{}").status, 200);
    }
    assert_eq!(fake.count(), 20);
}

#[test]
fn a_head_and_answers_without_bodies_pass() {
    let tide = Tide::new("");
    assert_eq!(tide.ask(&Asks::new("PUT", "/channels/7/pins/8")).status, 204);
    let answer = tide.ask(&Asks::new("POST", "/channels/7/messages").json(&json!({})));
    assert_eq!(answer.status, 400, "Discord's own words: {answer:?}");
    assert!(answer.json()["code"].as_u64().unwrap() > 0);
}
