use serde_json::json;

use super::*;

fn kind(answer: Value) -> Result<Forced, String> {
    let script = Value::Object([("answer".to_owned(), answer)].into_iter().collect());
    Script::from_json(&script).map(|script| script.forced)
}

#[test]
fn every_kind_is_read() {
    let second = Duration::from_secs(1);
    let many = |scope, retry_after| Ok(Forced::TooMany { scope, retry_after });
    let blocked = |shape, retry_after| Ok(Forced::Blocked { shape, retry_after });
    assert_eq!(kind(json!(429)), many(Scope::User, second));
    assert_eq!(kind(json!({"status": 429, "scope": "shared"})), many(Scope::Shared, second));
    assert_eq!(kind(json!({"kind": "global", "retry_after": 2.25})), many(Scope::Global, Duration::from_millis(2250)));
    assert_eq!(kind(json!("headerless")), Ok(Forced::Bare { retry_after: second }));
    assert_eq!(kind(json!("html")), blocked(BanShape::Html, None));
    assert_eq!(kind(json!({"kind": "cloudflare", "retry_after": 1})), blocked(BanShape::Json, Some(second)));
    assert_eq!(kind(json!("text")), blocked(BanShape::Text, None));
    assert_eq!(kind(json!({"status": 404, "code": 10015})), Ok(Forced::UnknownWebhook));
    let status = |status, code, message: &str| Ok(Forced::Status { status, code, message: message.to_owned() });
    assert_eq!(kind(json!("404")), status(404, 10008, "Unknown Message"));
    assert_eq!(kind(json!({"status": 403, "code": 50013, "message": "m"})), status(403, 50013, "m"));
    assert_eq!(kind(json!({"hang_ms": 5})), Ok(Forced::Hang(Duration::from_millis(5))));
    assert_eq!(kind(json!("drop_before_answer")), Ok(Forced::DropBeforeAnswer));
    assert_eq!(kind(json!("lose_answer")), Ok(Forced::LoseAnswer));
}

#[test]
fn what_is_wrong_is_said() {
    for answer in [
        json!(null),
        json!("x"),
        json!(99),
        json!({}),
        json!("hang_ms"),
        json!({"kind": "user", "retry_after": -1}),
        json!({"status": 429, "scope": "all"}),
    ] {
        assert!(kind(answer.clone()).is_err(), "{answer}");
    }
    let error = Script::from_json(&json!({"chat": "x", "answer": "500"})).unwrap_err();
    assert_eq!(error, "unknown key \"chat\"; known are method, route, major, bot, skip, times, answer");
}

#[test]
fn a_script_is_for_its_method_route_resource_and_bot() {
    let route = Route::of("POST", "/channels/5/messages");
    let matches = |script: Value| Script::from_json(&script).unwrap().matches(7, &route);
    let with = |key: &str, value: &str| json!({key: value, "answer": "500"});
    for (key, right, wrong) in [
        ("method", "post", "PUT"),
        ("route", "/channels/{id}/messages", "/channels/5/messages"),
        ("route", "POST /channels/{id}/messages", "GET /channels/{id}/messages"),
        ("major", "5", "6"),
        ("bot", "7", "8"),
    ] {
        assert!(matches(with(key, right)) && !matches(with(key, wrong)), "{key}");
    }
}
