//! A refusal keeps the place.

use expect_test::expect;

use crate::timeline::{check, run};

const GROUP: &str = "telegram instant until=99000";

#[test]
fn twenty_two_sends_at_once_to_a_group() {
    check(
        GROUP,
        "0 write 1-22 sendMessage -5",
        &expect![[r#"
        0 send 1-3 admitted
        0 refuse 19-21 max_hold 60000
        0 refuse 22 max_hold 61000
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
        13000 send 16 held 13000
        14000 send 17 held 14000
        15000 send 18 held 15000
    "#]],
    );
}

#[test]
fn callers_that_come_back_in_time_find_their_places() {
    check(
        "telegram instant until=99000 buckets.chat_second.bucket=3/1s",
        "0 write 1-22 sendMessage -5 hold=6000
         60000 write 23-26 sendMessage -5
         61000 write 27 sendMessage -5",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 19-21 max_hold 60000
            0 refuse 22 max_hold 60334
            334 send 4 held 334
            667 send 5 held 667
            1000 send 6 held 1000
            1334 send 7 held 1334
            1667 send 8 held 1667
            2000 send 9 held 2000
            2334 send 10 held 2334
            2667 send 11 held 2667
            3000 send 12 held 3000
            3334 send 13 held 3334
            3667 send 14 held 3667
            4000 send 15 held 4000
            4334 send 16 held 4334
            4667 send 17 held 4667
            5000 send 18 held 5000
            60000 send 23-25 admitted
            61000 send 27 admitted
            61000 send 26 held 1000
        "#]],
    );
}

#[test]
fn an_early_one_queues_behind_all_bookings() {
    check(
        GROUP,
        "0 write 1-3 sendMessage 77
         0 write 4 sendMessage 77 hold=0
         0 write 5 sendMessage 77 hold=0
         500 write 6 sendMessage 77
         1000 write 7 sendMessage 77
         2000 write 8 sendMessage 77",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 4 max_hold 1000
            0 refuse 5 max_hold 2000
            1000 send 7 admitted
            2000 send 8 admitted
            3000 send 6 held 2500
        "#]],
    );
}

/// The first place lapses at 3,000; nobody may go before that.
#[test]
fn a_booking_lapses_two_seconds_after_its_time() {
    check(
        GROUP,
        "0 write 1-3 sendMessage 77
         0 write 4 sendMessage 77 hold=0
         500 write 5 sendMessage 77",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 4 max_hold 1000
            3000 send 5 held 2500
        "#]],
    );
}

#[test]
fn past_sixty_four_bookings_the_last_time_is_told() {
    let outputs = run("telegram instant", "0 write 1-69 sendMessage 77 hold=0");
    let told: Vec<u64> = outputs.iter().filter_map(|out| out.value["retry_after_ms"].as_u64()).collect();
    let places = (1..=64).chain([64, 64]).map(|place| place * 1_000);
    assert_eq!(told, places.collect::<Vec<_>>());
}

#[test]
fn a_cooldown_beyond_the_limit_books_nothing() {
    check(
        GROUP,
        "0 cooldown peer 40000 peer=77
         0 write 1-5 sendMessage 77
         40000 write 6-8 sendMessage 77",
        &expect![[r#"
            0 refuse 1-5 cooldown 40000
            40000 send 6-8 admitted
        "#]],
    );
}

/// What is told counts the weights of all that waits before it: albums of other chats, each of which waits for its whole
/// weight. Told, it comes back in time.
#[test]
fn behind_albums_of_other_chats_the_time_is_told_that_they_take() {
    check(
        "telegram instant until=5000",
        "0 write 1-25 sendMessage $
         1 write 26-30 sendMediaGroup $ weight=10
         2 write 31 sendMessage 31 hold=0
         2 write 32 sendMessage 32
         3 write 33 sendMediaGroup 33 weight=10 hold=0",
        &expect![[r#"
            0 send 1-25 admitted
            2 refuse 31 max_hold 2998
            3 refuse 33 max_hold 2997
            1000 send 26-27 held 999
            2000 send 28-29 held 1999
            3000 send 30 held 2999
            3000 send 32 held 2998
        "#]],
    );
}
