//! The bot's bucket is given out by turns.

use std::fmt::Write as _;

use crate::timeline::run;

#[test]
fn a_quiet_peer_waits_for_one_turn_of_the_others() {
    let mut trace = String::new();
    for chat in 1..=60 {
        let first = chat * 10;
        writeln!(trace, "0 write {first}-{} sendMessage {chat}", first + 2).unwrap();
    }
    trace += "100 write 9999 sendMessage 99";
    let outputs = run("telegram instant until=20000", &trace);
    // 25 left at 0: all three of chats 1 to 8 and the first of chat 9. 52 peers wait; the 53rd turn is in the third second.
    let quiet = outputs.iter().find(|out| out.ticket == 9_999).unwrap();
    assert_eq!((quiet.at, quiet.value["held_ms"].as_u64()), (3_000, Some(2_900)));
    assert_eq!(outputs.len(), 181);
    assert_eq!(outputs.last().unwrap().at, 7_000);
}

#[test]
fn one_busy_chat_with_two_hundred_held_starves_nobody() {
    let mut trace = "0 write 1-200 sendMessage -5 hold=600000\n".to_owned();
    for second in 1..100 {
        writeln!(trace, "{} write {} sendMessage {}", second * 1_000, 1_000 + second, 100 + second).unwrap();
    }
    let outputs = run("telegram instant until=100000", &trace);
    let quiet: Vec<&str> = outputs.iter().filter(|out| out.ticket > 1_000).map(|out| out.word("outcome")).collect();
    assert_eq!(quiet.len(), 99);
    assert!(quiet.iter().all(|outcome| *outcome == "admitted"));
}

#[test]
fn one_turn_in_four_is_for_chrome() {
    let trace = "0 write 1-25 sendMessage $
                 1 write 101-140 sendMessage $
                 2 write 201-210 sendMessage $ class=status";
    let outputs = run("telegram instant until=20000", trace);
    let turns = |at: u64| -> String {
        let sent = outputs.iter().filter(|out| out.at == at);
        sent.map(|out| if out.ticket > 200 { 'c' } else { '.' }).collect()
    };
    assert_eq!(turns(1_000), "...c...c...c...c...c...c.");
    assert_eq!(turns(2_000), "..c...c...c...c..........");
}

#[test]
fn the_peer_whose_turn_it_is_waits_for_its_whole_weight() {
    let trace = "0 write 1-20 sendMessage $
                 1 write 30 sendMediaGroup 30 weight=10
                 2 write 41-60 sendMessage $";
    let outputs = run("telegram instant until=20000", trace);
    let at = |ticket: u64| outputs.iter().find(|out| out.ticket == ticket).unwrap().at;
    assert_eq!(at(30), 1_000);
    assert!((41..=55).all(|ticket| at(ticket) == 1_000), "{outputs:?}");
    assert!((56..=60).all(|ticket| at(ticket) == 2_000), "{outputs:?}");
}

#[test]
fn writes_without_a_peer_have_a_place_for_their_method() {
    // A table whose writes without a chat are paced: each method has one place in the ring.
    let trace = "0 write 1-25 sendMessage $
                 1 write 26-35 setMyCommands
                 1 write 36 setMyName
                 1 write 37-60 sendMessage $";
    let outputs = run("telegram instant until=20000 surface.other.buckets=[\"bot_second\"]", trace);
    let at = |ticket: u64| outputs.iter().find(|out| out.ticket == ticket).unwrap().at;
    assert_eq!((at(26), at(36), at(37), at(58)), (1_000, 1_000, 1_000, 1_000));
    assert!(at(27) >= 1_000 && at(35) > 1_000);
}
