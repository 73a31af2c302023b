//! What random worlds found, as the shortest timelines that show it.

use expect_test::expect;

use crate::timeline::{check, check_moments};

#[test]
fn a_newer_edit_that_no_row_paces_cancels_the_older_ones_retry() {
    check_moments(
        "telegram-forum until=20000",
        "0 cooldown bot 1000
         0 write 1 editMessageText 77 message=1
         1100 done 1 transient
         1200 write 2 editMessageText 77 message=1",
        &expect![[r#"
            1000 send 1
            1200 send 2
            1200 superseded 1 by 2
        "#]],
    );
}

#[test]
fn three_running_refusals_cool_the_bot_whatever_ended_before() {
    check(
        "telegram auto=false",
        "0 write 1 sendMessage 1 hold=600000
         0 write 2 sendMessage 2 hold=600000
         0 write 3 sendMessage 3 hold=600000
         0 write 4 sendMessage 4 hold=600000
         0 refused 1 200
         9000 refused 2 200
         9000 refused 3 200
         9000 refused 4 200
         9000 write 5 sendMessage 5 hold=0",
        &expect![[r#"
            0 send 1-4 admitted
            9000 send 1 held 9000
            9000 refuse 5 cooldown 2200
        "#]],
    );
}

#[test]
fn three_refusals_of_which_one_has_ended_hold_nobody_else() {
    check(
        "telegram",
        "0 write 1 sendMessage 1 hold=600000
         0 write 2 sendMessage 2 hold=600000
         0 write 3 sendMessage 3 hold=600000
         0 refused 1 4000
         1000 refused 2 1000
         4000 refused 3 4000
         4500 write 4 deleteMessage 4
         4500 write 5 deleteMessage 5",
        &expect![[r#"
            0 send 1-3 admitted
            4000 send 2 held 4000
            4500 send 4-5 admitted
        "#]],
    );
}

#[test]
fn an_older_edit_that_a_store_put_off_gives_way_to_the_newer_one() {
    check_moments(
        "telegram until=20000",
        "0 write 1 editMessageText 77 message=1 class=final
         10 write 2 editMessageText 77 message=1 class=final
         100 deferred 1 bot_second 3000",
        &expect![[r#"
            0 send 1
            100 superseded 1 by 2
            3000 send 2
        "#]],
    );
}

#[test]
fn an_older_edit_that_was_answered_late_is_not_sent_over_the_newer_one() {
    for answer in ["done 1 transient", "refused 1 200", "deferred 1 bot_second 62000"] {
        let trace = format!(
            "0 write 1 editMessageText 77 message=1 class=final hold=600000
             0 write 2 editMessageText 77 message=1 class=final hold=600000
             60500 done 2 ok
             61000 {answer}"
        );
        let sent: Vec<u64> = crate::timeline::run("telegram until=99000", &trace)
            .iter()
            .filter(|out| out.kind == "send")
            .map(|out| out.ticket)
            .collect();
        assert_eq!(sent, [1, 2], "{answer}");
    }
}

/// An album that must have the bot's whole window holds the turn until it leaves its line, not beyond.
#[test]
fn a_turn_is_given_on_when_who_waited_for_it_is_refused() {
    let outputs = crate::timeline::run(
        "telegram until=40000",
        "0 write 1 sendMessage -6
         0 write 2 sendMediaGroup 77 weight=40 hold=5000
         50 write 3 deleteMessage 77 message=9 hold=60000
         100 write 4 sendMessage -5 hold=60000
         31000 done 1 ok",
    );
    let mut left: Vec<(u64, u64)> =
        outputs.iter().filter(|out| out.kind == "send").map(|out| (out.ticket, out.at)).collect();
    left.sort_unstable();
    assert_eq!(left, [(1, 0), (3, 5_000), (4, 5_000)]);
}
