//! A bot's process that is killed and started again, fifty times in ten minutes.

use serde_json::json;

use super::PLAIN;
use crate::discord::{TOKEN, Tide};

#[test]
fn fifty_restarts_cost_a_session_start_only_where_the_bot_wants_another_session() {
    let tide = Tide::new("");
    let mut live = tide.live();
    let (mut others, mut seq) = (0, 2);
    for restart in 1..=50 {
        // Killed: no close frame, no word.
        drop(live.bot);
        tide.dispatch(2);
        let mut bot = tide.greeted(PLAIN);
        live = if restart % 10 == 0 {
            others += 1;
            seq = 2;
            bot.identify(TOKEN, &json!({"intents": 513 + (restart << 1)}));
            super::ready(bot)
        } else {
            bot.resume(TOKEN, &live.session, seq);
            // What Discord sent last may be on its way to tidegate still; then it comes behind RESUMED.
            let (mut numbered, mut resumed) = (Vec::new(), 0);
            while numbered.len() < 2 || resumed == 0 {
                let value = bot.json();
                match value["t"].as_str() {
                    Some("NUMBERED") => numbered.push(value["s"].as_u64()),
                    Some("RESUMED") => resumed += 1,
                    _ => {}
                }
            }
            assert_eq!((numbered, resumed), (vec![Some(seq + 1), Some(seq + 2)], 1));
            seq += 2;
            super::Live { bot, session: live.session }
        };
        tide.pass(12.0);
    }
    let total = tide.judged().total;
    assert_eq!((total.identifies, total.resumes, total.ready), (1 + others, 0, 1 + others), "{total:?}");
    assert_eq!(total.spacing_violations, 0);
    let status = tide.house.status();
    let starts = &status["gateway"]["bots"][0]["session_starts"];
    assert_eq!((starts["in_24_h"].as_u64(), starts["left"].as_u64()), (Some(1 + others), Some(500 - 1 - others)));
}
