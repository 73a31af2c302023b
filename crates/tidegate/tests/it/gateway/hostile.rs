//! Bots that mean ill, or know no better.

use serde_json::json;

use super::{PLAIN, ready, tide};
use crate::discord::TOKEN;
use crate::fake::until;

/// A thousand of them that come and go must not take all that unproven tokens together may ask for.
#[test]
fn discord_is_asked_for_a_token_that_never_worked_only_while_its_bot_is_there() {
    let tide = tide("");
    // A call that fails is made once more at once, so these are two.
    tide.force(&json!({"route": "/gateway/bot", "times": 4, "answer": "503"}));
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    until("Discord was asked twice", || tide.stats().total.calls == 4);
    drop(bot);
    tide.pass(50.0);
    assert_eq!(tide.stats().total.calls, 4);
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    ready(bot);
    assert_eq!(tide.stats().total.calls, 5);
}
