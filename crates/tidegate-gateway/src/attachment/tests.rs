use tidegate_core::{Span, Time};

use super::{Act, Attachment};
use crate::close::Close;

const INTERVAL: Span = Span::from_millis(41_250);
const BEAT: &str = r#"{"op":1,"d":null}"#;
const IDENTIFY: &str = r#"{"op":2,"d":{"token":"a.b.c"}}"#;
const RESUME: &str = r#"{"op":6,"d":{"token":"a.b.c","session_id":"s","seq":1}}"#;
const COMMAND: &str = r#"{"op":4,"d":{}}"#;

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn new() -> Attachment {
    Attachment::new(at(0), INTERVAL)
}

fn says(bot: &mut Attachment, seconds: u64, frame: &'static str) -> Result<&'static str, u16> {
    let act = bot.frame(at(seconds), &frame.into()).map_err(|close| close.code)?;
    Ok(match act {
        Act::Ack => "ack",
        Act::Identify(_) => "identify",
        Act::Resume(_) => "resume",
        Act::Command(_) => "command",
        Act::Nothing => "nothing",
    })
}

#[test]
fn heartbeats_are_answered_before_identify_and_after() {
    let mut bot = new();
    assert_eq!(says(&mut bot, 0, BEAT), Ok("ack"));
    assert_eq!(says(&mut bot, 0, IDENTIFY), Ok("identify"));
    assert_eq!(says(&mut bot, 1, BEAT), Ok("ack"));
    bot.live(at(2));
    assert_eq!(says(&mut bot, 3, BEAT), Ok("ack"));
    assert_eq!(says(&mut bot, 3, COMMAND), Ok("command"));
}

#[test]
fn only_one_identify_or_resume_until_op_9() {
    for (first, second) in [(IDENTIFY, IDENTIFY), (IDENTIFY, RESUME), (RESUME, IDENTIFY)] {
        let mut bot = new();
        assert!(says(&mut bot, 0, first).is_ok());
        assert_eq!(says(&mut bot, 0, second), Err(4005));
    }
    let mut bot = new();
    assert_eq!(says(&mut bot, 0, RESUME), Ok("resume"));
    bot.invalid(at(1));
    assert_eq!(says(&mut bot, 1, IDENTIFY), Ok("identify"));
    assert_eq!(says(&mut bot, 1, IDENTIFY), Err(4005));
}

#[test]
fn a_command_before_identify_is_refused_and_one_on_the_way_at_op_9_is_not() {
    assert_eq!(says(&mut new(), 0, COMMAND), Err(4003));
    let mut bot = new();
    says(&mut bot, 0, IDENTIFY).unwrap();
    assert_eq!(says(&mut bot, 0, COMMAND), Ok("command"));
    bot.invalid(at(1));
    assert_eq!(says(&mut bot, 1, COMMAND), Ok("nothing"));
}

#[test]
fn silence_is_watched_but_not_while_a_bot_waits_for_ready() {
    let mut bot = new();
    assert_eq!(bot.due(), Time::from_millis(82_500));
    assert_eq!(bot.tick(at(82)), Ok(()));
    assert_eq!(bot.tick(at(83)), Err(Close::NOT_ASKED));
    says(&mut bot, 10, IDENTIFY).unwrap();
    assert_eq!((bot.due(), bot.tick(at(100_000))), (Time::NEVER, Ok(())));
    bot.live(at(1_000));
    assert_eq!(bot.due(), at(1_000) + INTERVAL.times(2));
    says(&mut bot, 1_041, BEAT).unwrap();
    assert_eq!(bot.tick(at(1_123)), Ok(()));
    assert_eq!(bot.tick(at(1_124)), Err(Close::NO_BEATS));
    // Commands are no heartbeats.
    says(&mut bot, 1_120, COMMAND).unwrap();
    assert_eq!(bot.tick(at(1_124)), Err(Close::NO_BEATS));
    bot.invalid(at(1_200));
    assert_eq!(bot.tick(at(1_283)), Err(Close::NOT_ASKED));
}

#[test]
fn a_flood_of_heartbeats_or_pings_is_ended_and_its_memory_is_bounded() {
    let mut bot = new();
    for _ in 0..60 {
        assert_eq!(says(&mut bot, 0, BEAT), Ok("ack"));
        assert_eq!(bot.ping(at(1)), Ok(()));
    }
    assert_eq!(bot.ping(at(59)), Err(Close::FLOOD));
    assert_eq!(says(&mut bot, 59, BEAT), Err(4008));
    assert_eq!(bot.answers.len(), 120);
    assert_eq!(says(&mut bot, 60, BEAT), Ok("ack"));
}

#[test]
fn a_bot_that_resumes_after_every_op_9_is_ended_too() {
    let mut bot = new();
    for second in 0..120 {
        assert_eq!(says(&mut bot, second / 3, RESUME), Ok("resume"));
        bot.invalid(at(second / 3));
    }
    assert_eq!(says(&mut bot, 40, IDENTIFY), Err(4008));
}
