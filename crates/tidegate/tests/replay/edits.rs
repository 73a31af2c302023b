//! Edits: the latest wins, the end lands, chrome gives way.

use expect_test::expect;

use crate::timeline::{check, check_moments, run};

/// Three at once; then the gap grows by 533.3 ms with each unit of the window, as it was when the last edit left.
#[test]
fn previews_of_a_group_are_spread_after_three() {
    check(
        "telegram instant until=60000",
        "0 write 1-3 editMessageText -5 message=1 class=preview
         1599 write 4 editMessageText -5 message=1 class=preview
         1600 write 5 editMessageText -5 message=1 class=preview
         3733 write 6 editMessageText -5 message=2 class=status
         3734 write 7 editMessageText -5 message=2 class=status
         6400 write 8 editMessageText -5 message=2 class=status
         6401 write 9 editMessageText -5 message=2 class=status",
        &expect![[r#"
            0 send 1-3 admitted
            1599 drop 4 spread
            1600 send 5 admitted
            3733 drop 6 spread
            3734 send 7 admitted
            6400 drop 8 spread
            6401 send 9 admitted
        "#]],
    );
}

/// Sends fill the window too, so they widen the gap.
#[test]
fn the_gap_is_that_of_all_units_in_the_window() {
    check(
        "telegram instant until=60000",
        "0 write 1-3 sendMessage -5
         3000 write 4-6 editMessageText -5 message=$
         4000 write 7 editMessageText -5 message=1",
        &expect![[r#"
            0 send 1-3 admitted
            3000 send 4-6 admitted
            6200 send 7 held 2200
        "#]],
    );
}

/// What is ours never refuses: it keeps a write back to the end of its hold, and no longer.
#[test]
fn an_edit_that_only_the_spread_keeps_back_goes_as_its_hold_ends() {
    check(
        "telegram instant until=60000",
        "0 write 1-3 sendMessage -5
         3000 write 4-6 editMessageText -5 message=$
         4000 write 7 editMessageText -5 message=1 hold=0
         5000 write 8 editMessageText -5 message=1 hold=1000",
        &expect![[r#"
            0 send 1-3 admitted
            3000 send 4-6 admitted
            4000 send 7 admitted
            6000 send 8 held 1000
        "#]],
    );
}

/// At the end of a hold that several share the bucket would have three tokens: the first go while there is time.
#[test]
fn of_several_that_only_the_spread_keeps_back_none_is_refused() {
    check(
        "telegram instant until=60000",
        "0 write 1-13 editMessageText -5 message=$ hold=10000",
        &expect![[r#"
            0 send 1-3 admitted
            1000 send 4 held 1000
            2000 send 5 held 2000
            3000 send 6 held 3000
            4000 send 7 held 4000
            5000 send 8 held 5000
            6000 send 9 held 6000
            7000 send 10 held 7000
            8000 send 11 held 8000
            9000 send 12 held 9000
            10000 send 13 held 10000
        "#]],
    );
}

/// Nor does pacing keep back what is not paced, because that waits for an older edit of its message.
#[test]
fn an_older_edit_is_not_paced_where_one_that_is_not_paced_waits_for_it() {
    for (class, left_ms) in [("final", 5_000), ("interactive", 4_100)] {
        let outputs = run(
            "telegram instant until=60000",
            &format!(
                "0 write 1-3 sendMessage -5
                 3000 write 4-6 editMessageText -5 message=$
                 4000 write 7 editMessageText -5 message=1
                 4100 write 8 editMessageReplyMarkup -5 message=1 class={class}"
            ),
        );
        let sent: Vec<(u64, u64)> = outputs[6..].iter().map(|out| (out.at, out.ticket)).collect();
        assert_eq!(sent, [(4_100, 7), (left_ms, 8)], "{class}");
    }
}

/// A full window is no pacing of ours: the refusal tells when it has room.
#[test]
fn an_edit_that_the_window_keeps_back_is_told_when_it_has_room() {
    check(
        "telegram instant until=20000 buckets.chat_second.burst=20",
        "0 write 1-18 sendMessage -5
         10 write 19 editMessageText -5 message=1 hold=4000",
        &expect![[r#"
            0 send 1-18 admitted
            10 refuse 19 max_hold 59990
        "#]],
    );
}

/// A user's spacing of a cell that holds is pacing too. One that drops drops.
#[test]
fn a_spacing_keeps_back_no_longer_than_to_the_end_of_a_hold() {
    check(
        "telegram instant until=20000 surface.send.any.spacing=5s",
        "0 write 1-2 sendMessage 77
         0 write 3 sendMessage 78
         10 write 4 sendMessage 78 hold=2000",
        &expect![[r#"
            0 send 1 admitted
            0 send 3 admitted
            2010 send 4 held 2000
            5000 send 2 held 5000
        "#]],
    );
    check(
        "telegram instant until=20000 surface.send.buckets=[\"ours\"] buckets.ours.scope=peer buckets.ours.spacing=5s",
        "0 write 1-2 sendMessage 77
         0 write 3 sendMessage 78
         10 write 4 sendMessage 78 hold=2000",
        &expect![[r#"
            0 send 1 admitted
            0 send 3 admitted
            2010 send 4 held 2000
            5000 send 2 held 5000
        "#]],
    );
}

#[test]
fn previews_of_a_private_chat_are_not_spread() {
    check(
        "telegram instant",
        "0 write 1-4 editMessageText 77 message=1 class=preview
         1000 write 5 editMessageText 77 message=1 class=preview",
        &expect![[r#"
            0 send 1-3 admitted
            0 drop 4 dry
            1000 send 5 admitted
        "#]],
    );
}

#[test]
fn three_units_of_a_groups_minute_are_kept_for_settled_edits() {
    check(
        "telegram instant until=50000",
        "0 write 1-15 sendMessage -5
         30000 write 16 editMessageText -5 message=1 class=preview
         30000 write 17-19 editMessageText -5 message=$ class=final",
        &expect![[r#"
            0 send 1-3 admitted
            1000 send 4 held 1000
            2000 send 5 held 2000
            3000 send 6 held 3000
            4000 send 7 held 4000
            5000 send 8 held 5000
            6000 send 9 held 6000
            7000 send 10 held 7000
            8000 send 11 held 8000
            9000 send 12 held 9000
            10000 send 13 held 10000
            11000 send 14 held 11000
            12000 send 15 held 12000
            30000 drop 16 spread
            30000 send 17-19 admitted
        "#]],
    );
}

/// 4 quickly; the newest of the others 2.1 s after the last edit, and the end 600 ms after it was asked for.
#[test]
fn an_edit_that_is_not_named_final_settles_by_quiet() {
    check(
        "telegram instant until=60000",
        "0 write 1-3 editMessageText -5 message=1
         1600 write 4 editMessageText -5 message=1
         2300 write 5 editMessageText -5 message=1
         2600 write 6 editMessageText -5 message=1",
        &expect![[r#"
            0 send 1-3 admitted
            1600 send 4 admitted
            2600 superseded 5 by 6
            3200 send 6 held 600
        "#]],
    );
    check(
        "telegram instant until=60000",
        "0 write 1-3 editMessageText -5 message=1
         1600 write 4 editMessageText -5 message=1
         2300 write 5 editMessageText -5 message=1",
        &expect![[r#"
            0 send 1-3 admitted
            1600 send 4 admitted
            3734 send 5 held 1434
        "#]],
    );
}

#[test]
fn the_newest_takes_the_place_and_its_hold_counts_from_its_own_arrival() {
    check(
        "telegram instant until=20000",
        "0 write 1-3 sendMessage 77
         0 write 4 editMessageText 77 message=1 class=final
         0 write 5 sendMessage 77
         500 write 6 editMessageText 77 message=1 class=final
         600 write 7 editMessageCaption 77 message=1 class=final",
        &expect![[r#"
            0 send 1-3 admitted
            500 superseded 4 by 6
            1000 send 6 held 500
            2000 send 5 held 2000
            3000 send 7 held 2400
        "#]],
    );
}

#[test]
fn one_edit_of_a_message_is_in_flight_at_a_time() {
    check(
        "telegram until=20000",
        "0 write 1 editMessageText 77 message=1 class=final
         0 write 2 editMessageText 77 message=2 class=final
         10 write 3 editMessageText 77 message=1 class=final
         20 write 4 editMessageText 77 message=1 class=final
         500 done 1 ok",
        &expect![[r#"
            0 send 1-2 admitted
            20 superseded 3 by 4
            500 send 4 held 480
        "#]],
    );
}

#[test]
fn an_older_edit_is_never_sent_after_a_newer_that_went_at_once() {
    check(
        "telegram instant until=20000",
        "0 write 1-3 sendMessage -5
         0 write 4 editMessageText -5 message=1 class=final
         10 write 5 editMessageText -5 message=1 class=interactive",
        &expect![[r#"
            0 send 1-3 admitted
            10 send 5 passed
            10 superseded 4 by 5
        "#]],
    );
}

#[test]
fn chrome_gives_way_to_a_named_final() {
    check(
        "telegram until=20000",
        "0 write 1 editMessageText 77 message=1 class=final
         100 write 2 editMessageText 77 message=1 class=status
         1000 done 1 ok
         2999 write 3 editMessageText 77 message=1 class=status
         2999 write 4 editMessageText 77 message=2 class=status
         3000 write 5 editMessageText 77 message=1 class=status",
        &expect![[r#"
            0 send 1 admitted
            100 drop 2 order
            2999 drop 3 order
            2999 send 4 admitted
            3000 send 5 admitted
        "#]],
    );
}

#[test]
fn chrome_does_not_wait_behind_another() {
    check(
        "telegram",
        "0 write 1-2 sendMessage 77
         10 write 3 editMessageText 77 message=9 class=status
         10 write 4 editMessageText 77 message=9 class=interactive",
        &expect![[r#"
            0 send 1 admitted
            10 drop 3 order
            10 send 4 admitted
        "#]],
    );
}

#[test]
fn a_delete_drops_the_held_edits_of_its_message() {
    check(
        "telegram instant until=20000",
        "0 write 1-3 sendMessage 77
         0 write 4-5 editMessageText 77 message=$ class=final
         10 write 6 deleteMessage 77 message=4",
        &expect![[r#"
            0 send 1-3 admitted
            10 drop 4 order
            10 send 6 admitted
            1000 send 5 held 1000
        "#]],
    );
}

#[test]
fn an_edit_that_superseded_another_stays_when_its_client_leaves() {
    check(
        "telegram instant until=20000",
        "0 write 1-3 sendMessage 77
         0 write 4-5 editMessageText 77 message=1 class=final
         0 write 6 editMessageText 77 message=2 class=final
         10 cancel 5
         10 cancel 6",
        &expect![[r#"
            0 send 1-3 admitted
            0 superseded 4 by 5
            1000 send 5 held 1000
        "#]],
    );
}

#[test]
fn a_final_whose_first_version_was_refused_stays_queued_for_its_message() {
    check_moments(
        "telegram until=20000",
        "0 write 1 editMessageText 77 message=1 class=final
         100 refused 1 5000
         200 write 2 editMessageText 77 message=1 class=final
         300 write 3 editMessageText 77 message=1 class=preview
         7150 done 2 ok",
        &expect![[r#"
            0 send 1
            200 superseded 1 by 2
            300 drop 3 order
            7100 send 2
        "#]],
    );
}

#[test]
fn of_several_messages_the_one_that_waited_longest_goes_first() {
    let outputs = run(
        "telegram instant until=20000",
        "0 write 1-3 sendMessage 77
         0 write 4 editMessageText 77 message=1 class=final
         10 write 5 editMessageText 77 message=2 class=final
         20 write 6 editMessageText 77 message=3 class=final",
    );
    let sent: Vec<(u64, u64)> = outputs[3..].iter().map(|out| (out.at, out.ticket)).collect();
    assert_eq!(sent, [(1_000, 4), (2_000, 5), (3_000, 6)]);
}
