use expect_test::expect;
use serde_json::json;

use super::check;

#[test]
fn four_shards_start_through_two_buckets() {
    check(
        &json!({
            "shards": [[0, 4], [1, 4], [2, 4], { "shard": [3, 4], "session": { "id": "s", "seq": 9, "resume_url": "wss://r" } }],
            "shard": { "url": "wss://main", "jitter": [1, 1] },
            "identify_queue": { "max_concurrency": 2 },
            "run_until": 6000,
        }),
        "0 0/4 start
         0 1/4 start
         0 2/4 start
         0 3/4 start
         50 0/4 opened gen=1
         50 0/4 hello gen=1 interval_ms=600000
         60 3/4 hello gen=1 interval_ms=600000
         80 3/4 resumed gen=1
         90 0/4 ready gen=1 session=a resume_url=wss://r seq=1
         2100 2/4 opened gen=1
         2100 2/4 hello gen=1 interval_ms=600000",
        &expect![[r#"
            0 0/4 request_grant
            0 identify_queue grant grant 1,shard 0
            0 0/4 connect gen 1,url wss //main
            0 1/4 request_grant
            0 identify_queue grant grant 2,shard 1
            0 1/4 connect gen 1,url wss //main
            0 2/4 request_grant
            0 identify_queue note waiting behind 0,shard 2
            0 3/4 connect gen 1,url wss //r
            50 0/4 identify gen 1
            60 3/4 resume gen 1,seq 9,session s
            90 0/4 release_grant grant 1,unused false
            90 0/4 save_session at 90,backoff_step 0,id a,resume_url wss //r,seq 1
            2050 2/4 connect gen 1,url wss //main
            5050 identify_queue grant grant 3,shard 2
            5050 2/4 identify gen 1
        "#]],
    );
}

#[test]
fn what_a_shard_writes_counts_in_its_send_queue() {
    check(
        &json!({
            "shards": [{ "shard": [0, 1], "session": { "id": "s" }, "seed": 3 }],
            "shard": { "jitter": [1, 1] },
            "send_queue": { "platform_limit": 3, "queued_limit": 2 },
        }),
        "0 0/1 start
         10 0/1.send command id=1 op=4
         20 0/1 opened gen=1
         20 0/1 hello gen=1 interval_ms=600000
         30 0/1 resumed gen=1
         40 0/1.send command id=2 op=4
         50 0/1.send command id=3 op=4
         60 0/1 beat_asked gen=1
         70 0/1 closed gen=1 code=4000
         70 0/1.send ready",
        &expect![[r#"
            0 0/1 connect gen 1,url wss //gateway.discord.gg
            20 0/1 resume gen 1,seq 0,session s
            30 0/1.send send command id 1
            40 0/1.send send command id 2
            60 0/1.send close code 4000
            60 0/1 beat gen 1,seq 0
            70 0/1 save_session at 70,backoff_step 1,id s,resume_url ,seq 0
            70 0/1 waiting until_ms 5070,why backoff
        "#]],
    );
}

#[test]
fn shards_come_and_go_and_two_counts_share_an_id() {
    check(
        &json!({
            "shards": [[0, 1]],
            "shards_max": 2,
            "shard": { "autonomous": false, "jitter": [1, 1] },
            "run_until": 31_000,
        }),
        "0 0/1 start
         0 0/1 fresh differs=false
         100 open 0/2
         100 open 1/2
         100 0/2 start
         100 0/2 fresh differs=true
         200 forget 0/1
         200 0/1 start",
        &expect![[r#"
            0 0/1 request_grant
            0 identify_queue grant grant 1,shard 0
            0 0/1 connect gen 1,url wss //gateway.discord.gg
            100 1/2 not_opened shard [1,2]
            100 0/2 request_grant
            200 0/1 close code 4000,gen 1
            200 0/1 release_grant grant 1,unused true
            200 identify_queue grant grant 2,shard 0
            200 0/2 connect gen 1,url wss //gateway.discord.gg
        "#]],
    );
}

#[test]
fn an_identify_over_http_waits_its_turn() {
    check(
        &json!({ "shards": [[0, 1]], "run_until": 20_000 }),
        "0 identify_queue request shard=0
         0 0/1 start
         100 identify_queue request shard=1
         400 identify_queue release shard=0 grant=1
         500 identify_queue release shard=0 grant=2",
        &expect![[r#"
            0 identify_queue grant grant 1,shard 0
            0 0/1 request_grant
            100 identify_queue note waiting behind 0,shard 1
            400 identify_queue note waiting behind 1,shard 0
            5400 identify_queue grant grant 2,shard 1
            7400 0/1 connect gen 1,url wss //gateway.discord.gg
        "#]],
    );
}

#[test]
fn a_rejected_token_and_a_refresh_reach_the_shards() {
    check(
        &json!({
            "shards": [[0, 2], [1, 2]],
            "shard": { "autonomous": true },
            "identify_queue": { "remaining": 0, "reset_at_ms": 60_000 },
        }),
        "0 0/2 start
         60000 identify_queue refresh max_concurrency=1 remaining=1000 reset_at_ms=86460000
         70000 unauthorized",
        &expect![[r#"
            0 0/2 request_grant
            0 identify_queue deny refresh_at_ms 60000,shard 0
            0 0/2 waiting until_ms 61962,why budget
            60000 0/2 waiting until_ms 60424,why budget
            60424 0/2 request_grant
            60424 identify_queue grant grant 1,shard 0
            60424 0/2 connect gen 1,url wss //gateway.discord.gg
            70000 0/2 close code 4000,gen 1
            70000 0/2 release_grant grant 1,unused true
            70000 0/2 stopped reason authentication_failed
            70000 1/2 stopped reason authentication_failed
        "#]],
    );
}

#[test]
fn writes_are_the_governors_and_its_timeouts_come_in_order() {
    check(
        &json!({ "governor": { "policy": "telegram", "instant": true } }),
        "0 governor write ticket=1 method=sendMessage peer=5
         0 governor write ticket=2 method=sendMessage peer=5
         0 governor write ticket=3 method=sendMessage peer=5
         0 governor write ticket=4 method=sendMessage peer=5
         5000 tick",
        &expect![[r#"
            0 governor send held_ms 0,outcome admitted,ticket 1
            0 governor send held_ms 0,outcome admitted,ticket 2
            0 governor send held_ms 0,outcome admitted,ticket 3
            1000 governor send held_ms 1000,outcome held,ticket 4
        "#]],
    );
}
