//! One id, several who ask for its place: of two shard counts, and over HTTP.

use expect_test::expect;

use super::timeline::{Timeline, limit, settings};

#[test]
fn two_counts_take_turns_at_one_id() {
    Timeline::new(settings(), limit(16, 1_000))
        .tell(
            "0 0/2 open
             0 0/4 open
             0 0/2 start
             0 0/4 start
             200 0/2 opened
             200 0/2 hello
             300 0/2 ready
             2300 0/4 opened
             2300 0/4 hello
             5300 0/4 ready",
        )
        .check(&expect![[r"
            0 0/2 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/2 Connect generation: (1), url: wss://main
            0 0/4 RequestGrant
            200 0/2 Identify generation: (1)
            300 0/2 ReleaseGrant grant: (1), unused: false
            300 0/2 save session
            2200 0/4 Connect generation: (1), url: wss://main
            5200 queue Grant shard: 0, grant: (2)
            5200 0/4 Identify generation: (1)
            5300 0/4 ReleaseGrant grant: (2), unused: false
            5300 0/4 save session
        "]]);
}

#[test]
fn a_grant_that_lapses_is_the_next_ones_turn() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/2 open
             0 0/4 open
             0 0/2 start
             0 0/4 start
             100 0/2 opened
             100 0/2 hello
             35000 0/2 ack
             36000 0/2 ready",
        )
        .check(&expect![[r"
            0 0/2 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/2 Connect generation: (1), url: wss://main
            0 0/4 RequestGrant
            100 0/2 Identify generation: (1)
            30000 queue Grant shard: 0, grant: (2)
            30000 0/4 Connect generation: (1), url: wss://main
            36000 0/2 ReleaseGrant grant: (1), unused: false
            36000 0/2 save session
        "]]);
}

#[test]
fn whoever_asks_over_http_takes_turns_with_a_shard_of_ours() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open
             0 http request 0
             0 0/1 start
             100 http request 0
             400 http release 0
             15000 0/1 opened
             15000 0/1 hello
             15100 0/1 ready",
        )
        .check(&expect![[r"
            0 http Grant shard: 0, grant: (1)
            0 0/1 RequestGrant
            2100 0/1 Connect generation: (1), url: wss://main
            5100 queue Grant shard: 0, grant: (2)
            15000 0/1 Identify generation: (1)
            15100 0/1 ReleaseGrant grant: (2), unused: false
            15100 0/1 save session
        "]]);
}

#[test]
fn nobody_outside_ends_a_shards_turn() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline
        .tell(
            "0 0/1 open
             0 0/1 start
             100 http request 0
             100 http release 0
             100 http release 0 1
             100 http unused 0 1
             100 http deferred 0 1
             100 0/1 granted 9
             200 0/1 opened
             200 0/1 hello",
        )
        .check(&expect![[r"
            0 0/1 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/1 Connect generation: (1), url: wss://main
            200 0/1 Identify generation: (1)
        "]]);
    assert_eq!(timeline.gateway.identify_queue().counted(), 1);
    assert_eq!(timeline.gateway.identify_queue().wake_after(tidegate_core::Time::from_millis(200)), None);
}

#[test]
fn an_http_grant_lapses_and_another_may_follow() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open
             0 http request 0
             0 0/1 start
             14999 http request 1
             16000 0/1 stop",
        )
        .check(&expect![[r"
            0 http Grant shard: 0, grant: (1)
            0 0/1 RequestGrant
            12000 0/1 Connect generation: (1), url: wss://main
            15000 queue Grant shard: 0, grant: (2)
            16000 0/1 Close generation: (1), code: 4000
            16000 0/1 ReleaseGrant grant: (2), unused: true
            16000 http Grant shard: 1, grant: (3)
        "]]);
}

#[test]
fn a_deferred_http_grant_comes_again() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 http request 0
             0 http deferred 0 1
             7000 http release 0 2",
        )
        .check(&expect![[r"
            0 http Grant shard: 0, grant: (1)
            7000 http Grant shard: 0, grant: (2)
        "]]);
}

#[test]
fn a_deferral_that_comes_after_the_lapse_still_counts() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 http request 0
             11000 http deferred 0 1
             19000 http release 0 2",
        )
        .check(&expect![[r"
            0 http Grant shard: 0, grant: (1)
            18000 http Grant shard: 0, grant: (2)
        "]]);
}

#[test]
fn a_deferral_of_a_used_grant_changes_nothing() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open
             0 http request 0
             0 http identified 0 1
             100 http deferred 0 1
             200 0/1 start
             6000 http release 0 1
             12000 http release 5",
        )
        .check(&expect![[r"
            0 http Grant shard: 0, grant: (1)
            200 0/1 RequestGrant
            8000 0/1 Connect generation: (1), url: wss://main
            11000 queue Grant shard: 0, grant: (2)
        "]]);
}
