//! What is bounded.

use expect_test::expect;
use tidegate_core::bot::Settings;

use super::timeline::{Timeline, limit, settings};

#[test]
fn one_shard_too_many_is_not_opened() {
    let mut timeline = Timeline::new(Settings { shards_max: 2, ..settings() }, limit(1, 1_000));
    timeline
        .tell(
            "0 0/3 open
             0 1/3 open
             0 0/3 open stored
             0 2/3 open
             0 2/3 start
             0 1/3 forget
             0 2/3 open",
        )
        .check(&expect![[r"
            0 2/3 not opened
        "]]);
    assert_eq!(timeline.gateway.keys().count(), 2);
}

#[test]
fn a_bound_on_those_who_wait_denies_the_rest() {
    let mut settings = settings();
    settings.identify_queue.waiting_bound = 1;
    Timeline::new(settings, limit(1, 1_000))
        .tell(
            "0 0/3 open
             0 1/3 open
             0 2/3 open
             0 0/3 start
             0 1/3 start
             0 2/3 start
             0 http request 3",
        )
        .check(&expect![[r"
            0 0/3 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/3 Connect generation: (1), url: wss://main
            0 1/3 RequestGrant
            0 2/3 RequestGrant
            0 queue Deny shard: 2, refresh_at: @5000.000ms
            0 2/3 Waiting until: @8476.000ms, why: Budget
            0 http Deny shard: 3, refresh_at: @5000.000ms
        "]]);
}
