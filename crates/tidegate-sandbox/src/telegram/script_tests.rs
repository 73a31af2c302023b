use serde_json::json;

use super::*;
use crate::scripts::Scripts;

fn kind(answer: Value) -> Result<Forced, String> {
    let script = Value::Object([("answer".to_owned(), answer)].into_iter().collect());
    Script::from_json(&script).map(|script| script.forced)
}

#[test]
fn every_kind_is_read() {
    assert_eq!(kind(json!({"status": 429, "retry_after": 3})), Ok(Forced::TooMany { retry_after_s: 3 }));
    assert_eq!(kind(json!("429")), Ok(Forced::TooMany { retry_after_s: 1 }));
    assert_eq!(kind(json!("502")), Ok(Forced::Page { status: 502 }));
    assert_eq!(kind(json!(500)), Ok(Forced::Status { status: 500, description: None }));
    assert_eq!(kind(json!({"kind": "409"})), Ok(Forced::Status { status: 409, description: None }));
    let text = Some("Forbidden: x".to_owned());
    assert_eq!(
        kind(json!({"status": 403, "description": "Forbidden: x"})),
        Ok(Forced::Status { status: 403, description: text })
    );
    assert_eq!(kind(json!("drop_before_answer")), Ok(Forced::DropBeforeAnswer));
    assert_eq!(kind(json!({"drop_before_answer": true})), Ok(Forced::DropBeforeAnswer));
    assert_eq!(kind(json!({"kind": "lose_answer"})), Ok(Forced::LoseAnswer));
    assert_eq!(kind(json!({"hang_ms": 250})), Ok(Forced::Hang(Duration::from_millis(250))));
    assert_eq!(kind(json!({"kind": "migrate", "to": "-1005"})), Ok(Forced::Migrate { to: -1005 }));
    assert_eq!(kind(json!("not_modified")), Ok(Forced::NotModified));
}

#[test]
fn what_is_wrong_is_said() {
    for answer in [json!(null), json!("x"), json!(99), json!({}), json!({"kind": true}), json!("migrate")] {
        assert!(kind(answer.clone()).is_err(), "{answer}");
    }
    let error = Script::from_json(&json!({"metod": "x", "answer": "500"})).unwrap_err();
    assert_eq!(error, "unknown key \"metod\"; known are method, chat, bot, skip, times, answer");
    assert!(Script::from_json(&json!({"times": -1, "answer": "500"})).is_err());
    assert!(Script::from_json(&json!({"times": 2})).is_err());
}

#[test]
fn a_script_skips_counts_and_ends() {
    let mut scripts: Scripts<Script> = Scripts::new(2);
    let script = json!({"method": "SendMessage", "chat": -5, "bot": 7, "skip": 1, "times": 2, "answer": "500"});
    assert!(scripts.push(Script::from_json(&script).unwrap()));
    let mut take = |bot, method, chat| scripts.take(|script| script.matches(bot, method, Some(chat))).is_some();
    assert!(!take(8, "sendMessage", "-5") && !take(7, "sendPhoto", "-5") && !take(7, "sendMessage", "-6"));
    let taken: Vec<bool> = (0..5).map(|_| take(7, "sendMessage", "-5")).collect();
    assert_eq!(taken, [false, true, true, false, false]);
    assert_eq!(scripts.len(), 0);
}

#[test]
fn waiting_scripts_are_bounded() {
    let mut scripts = Scripts::new(2);
    let pushed: Vec<bool> = (0..3).map(|_| scripts.push(Script::next(Forced::NotModified))).collect();
    assert_eq!((pushed, scripts.len()), (vec![true, true, false], 2));
}
