//! What the gates ask of each other, as timelines.

use expect_test::expect;
use tidegate_core::identify_queue;

use super::timeline::{Timeline, limit, settings};

#[test]
fn a_shard_asks_dials_identifies_and_gives_its_grant_back() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open
             0 0/1 start
             200 0/1 opened
             200 0/1 hello
             300 0/1 ready",
        )
        .check(&expect![[r"
            0 0/1 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/1 Connect generation: (1), url: wss://main
            200 0/1 Identify generation: (1)
            300 0/1 ReleaseGrant grant: (1), unused: false
            300 0/1 save session
        "]]);
}

#[test]
fn a_stored_session_is_resumed_without_a_grant() {
    Timeline::new(settings(), limit(1, 0))
        .tell(
            "0 0/1 open stored
             0 0/1 start
             200 0/1 opened
             200 0/1 hello
             300 0/1 resumed",
        )
        .check(&expect![[r"
            0 0/1 Connect generation: (1), url: wss://resume
            200 0/1 Resume generation: (1), session: s, seq: 7
        "]]);
}

#[test]
fn the_next_in_line_dials_early_and_identifies_on_its_grant() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/2 open
             0 1/2 open
             0 0/2 start
             0 1/2 start
             200 0/2 opened
             200 0/2 hello
             300 0/2 ready
             2400 1/2 opened
             2400 1/2 hello
             5300 1/2 ready",
        )
        .check(&expect![[r"
            0 0/2 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/2 Connect generation: (1), url: wss://main
            0 1/2 RequestGrant
            200 0/2 Identify generation: (1)
            300 0/2 ReleaseGrant grant: (1), unused: false
            300 0/2 save session
            2200 1/2 Connect generation: (1), url: wss://main
            5200 queue Grant shard: 1, grant: (2)
            5200 1/2 Identify generation: (1)
            5300 1/2 ReleaseGrant grant: (2), unused: false
            5300 1/2 save session
        "]]);
}

#[test]
fn commands_wait_for_ready_and_go_with_it() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open
             0 0/1.send command 1
             0 0/1 start
             200 0/1 opened
             200 0/1 hello
             250 0/1.send command 2
             300 0/1 ready
             400 0/1.send command 3
             500 0/1 closed 1006
             600 0/1.send command 4",
        )
        .check(&expect![[r"
            0 0/1 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/1 Connect generation: (1), url: wss://main
            200 0/1 Identify generation: (1)
            300 0/1 ReleaseGrant grant: (1), unused: false
            300 0/1 save session
            300 0/1.send Send(Command id: 1 )
            300 0/1.send Send(Command id: 2 )
            400 0/1.send Send(Command id: 3 )
            500 0/1 save session
            500 0/1 Waiting until: @5500.000ms, why: Backoff
        "]]);
}

#[test]
fn a_close_with_4008_drops_what_waits() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open stored
             0 0/1 start
             100 0/1 opened
             100 0/1 hello
             150 0/1.send command 1
             200 0/1 closed 4008",
        )
        .check(&expect![[r"
            0 0/1 Connect generation: (1), url: wss://resume
            100 0/1 Resume generation: (1), session: s, seq: 7
            200 0/1 save session
            200 0/1 Waiting until: @106400.000ms, why: Cooldown
            200 0/1.send Dropped id: 1, reason: After4008
        "]]);
}

#[test]
fn an_old_connections_words_do_not_reach_the_send_queue() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/1 open stored
             0 0/1 start
             100 0/1 opened
             100 0/1 hello
             200 0/1 resumed
             300 0/1 op7
             400 0/1 opened
             400 0/1 hello
             500 0/1 resumed
             600 0/1 @1 closed 4008
             700 0/1.send command 1",
        )
        .check(&expect![[r"
            0 0/1 Connect generation: (1), url: wss://resume
            100 0/1 Resume generation: (1), session: s, seq: 7
            300 0/1 Close generation: (1), code: 4000
            300 0/1 save session
            300 0/1 Connect generation: (2), url: wss://resume
            400 0/1 Resume generation: (2), session: s, seq: 7
            600 0/1 Note(Stale generation: (1) )
            700 0/1.send Send(Command id: 1 )
        "]]);
}

#[test]
fn the_121st_frame_closes_the_connection_before_it_is_written() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline.tell(
        "0 0/1 open stored
         0 0/1 start
         100 0/1 hello
         150 0/1 opened
         200 0/1 resumed",
    );
    for id in 0..100 {
        timeline.tell(&format!("300 0/1.send command {id}"));
    }
    // HELLO alone opens a connection too, and what follows it does not start its minute anew. RESUME was one, so 19 beats are left.
    for _ in 0..19 {
        timeline.tell("400 0/1 beat_asked");
    }
    timeline.check_last(&expect!["300 0/1.send Send(Command id: 99 )"]);
    timeline.tell("400 0/1 beat_asked").check(&expect![[r"
        400 0/1.send Close code: 4000
    "]]);
}

#[test]
fn a_denied_shard_parks_and_a_refresh_wakes_it() {
    Timeline::new(settings(), limit(1, 0))
        .tell(
            "0 0/1 open
             0 0/1 start
             1000 refresh 1 0
             3600000 refresh 1 1000",
        )
        .check(&expect![[r"
            0 0/1 RequestGrant
            0 queue Deny shard: 0, refresh_at: @3600000.000ms
            0 0/1 Waiting until: @3604571.000ms, why: Budget
            3600000 0/1 Waiting until: @3603850.000ms, why: Budget
        "]]);
}

#[test]
fn a_rejected_token_stops_every_shard() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/2 open
             0 1/2 open stored
             0 0/2 start
             0 1/2 start
             100 bot unauthorized",
        )
        .check(&expect![[r"
            0 0/2 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/2 Connect generation: (1), url: wss://main
            0 1/2 Connect generation: (1), url: wss://resume
            100 0/2 Close generation: (1), code: 4000
            100 0/2 ReleaseGrant grant: (1), unused: true
            100 0/2 Stopped(Fatal(AuthenticationFailed))
            100 1/2 Close generation: (1), code: 4000
            100 1/2 save none
            100 1/2 Stopped(Fatal(AuthenticationFailed))
        "]]);
}

#[test]
fn a_forgotten_shard_makes_way() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline
        .tell(
            "0 0/3 open
             0 1/3 open
             0 2/3 open
             0 0/3 start
             0 1/3 start
             0 2/3 start
             100 0/3 forget
             100 2/3 forget
             100 2/3 start
             100 2/3.send command 1",
        )
        .check(&expect![[r"
            0 0/3 RequestGrant
            0 queue Grant shard: 0, grant: (1)
            0 0/3 Connect generation: (1), url: wss://main
            0 1/3 RequestGrant
            0 2/3 RequestGrant
            100 0/3 Close generation: (1), code: 4000
            100 0/3 ReleaseGrant grant: (1), unused: true
            100 queue Grant shard: 1, grant: (2)
            100 1/3 Connect generation: (1), url: wss://main
        "]]);
    assert_eq!(timeline.gateway.keys().count(), 1);
    assert_eq!(timeline.gateway.identify_queue().counted(), 1);
}

#[test]
fn what_is_counted_and_undone_comes_out_before_the_outputs() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline.tell("0 0/1 open\n0 0/1 start");
    let counted = timeline.gateway.take_changes();
    assert!(matches!(counted[..], [identify_queue::Change::Counted(_)]), "{counted:?}");
    timeline.tell("100 0/1 stop");
    let undone = timeline.gateway.take_changes();
    assert!(matches!(undone[..], [identify_queue::Change::Undone(_)]), "{undone:?}");
    timeline.tell("200 0/1 start\n300 0/1 opened");
    assert!(timeline.gateway.take_changes().is_empty(), "what is not taken is gone");
}

#[test]
fn an_identify_that_is_written_late_spaces_the_next_from_then() {
    Timeline::new(settings(), limit(1, 1_000))
        .tell(
            "0 0/2 open
             0 1/2 open
             0 0/2 start
             0 1/2 start
             200 0/2 opened
             200 0/2 hello
             900 0/2 sent 2
             950 0/2 ready
             2900 1/2 opened
             2900 1/2 hello
             6000 1/2 ack",
        )
        .check_last(&expect!["5900 1/2 Identify generation: (1)"]);
}

/// The bot notices nothing of it.
#[test]
fn e11_a_command_that_dies_with_its_connection_goes_again_once_the_session_is_resumed() {
    for end in ["closed", "closed 1006", "error", "op7"] {
        let mut timeline = Timeline::new(settings(), limit(1, 1_000));
        timeline.tell(
            "0 0/1 open stored
             0 0/1 start
             100 0/1 hello
             200 0/1 resumed
             300 0/1.send request 1
             310 0/1.send request 2
             320 0/1.send command 3
             400 0/1.send answered 1",
        );
        timeline.tell(&format!("500 0/1 {end}\n600 0/1.send command 4"));
        timeline.tell("10000 0/1 hello\n10100 0/1 resumed");
        timeline.check_tail(
            3,
            &expect![[r"
                10100 0/1.send Send(Command id: 2 )
                10100 0/1.send Send(Command id: 3 )
                10100 0/1.send Send(Command id: 4 )
            "]],
        );
    }
}

#[test]
fn e11_an_ack_of_the_living_connection_shows_what_was_read() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline.tell(
        "0 0/1 open stored
         0 0/1 start
         100 0/1 hello
         200 0/1 resumed
         300 0/1.send request 1
         310 0/1.send command 2
         320 0/1 beat_asked
         330 0/1.send command 3
         340 0/1 ack
         500 0/1 op7
         600 0/1 hello
         610 0/1 @1 ack
         700 0/1 resumed",
    );
    timeline.check_tail(
        2,
        &expect![[r"
            700 0/1.send Send(Command id: 1 )
            700 0/1.send Send(Command id: 3 )
        "]],
    );
}

#[test]
fn e11_nothing_goes_again_to_a_new_session() {
    let mut timeline = Timeline::new(settings(), limit(1, 1_000));
    timeline.tell(
        "0 0/1 open stored
         0 0/1 start
         100 0/1 hello
         200 0/1 resumed
         300 0/1.send request 1
         500 0/1 op9
         7000 0/1 hello
         7100 0/1 ready
         7200 0/1.send command 2",
    );
    timeline.check_tail(
        3,
        &expect![[r"
        7100 0/1 ReleaseGrant grant: (1), unused: false
        7100 0/1 save session
        7200 0/1.send Send(Command id: 2 )
    "]],
    );
}
