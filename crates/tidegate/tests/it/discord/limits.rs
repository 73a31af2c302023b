//! What can be foreseen is never refused.

use serde_json::json;
use tidegate_sandbox::discord::Options;

use super::{Asks, Tide, answers, say, statuses};

#[test]
fn thirty_sends_to_each_of_four_channels_all_arrive_in_order() {
    let tide = Tide::new("");
    let sends = (0..120).map(|number| say(1 + number as u64 % 4, number / 4));
    let answers = answers(tide.in_order(sends));
    assert_eq!(statuses(&answers), [(200, 120)].into());
    assert!(answers.iter().all(|answer| answer.header("x-tidegate-gate") == Some("discord/send")));
    assert!(answers.iter().all(|answer| answer.header("x-ratelimit-limit") == Some("5")), "passed back as they came");
    tide.assert_clean();
    let stats = tide.stats();
    assert_eq!((stats.total.refused_429, stats.inversions), (0, 0));
}
