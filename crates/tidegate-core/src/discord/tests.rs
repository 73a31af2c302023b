use alloc::format;

use super::*;
use crate::key::Peer;
use crate::time::{Span, Time};

fn route(call: &str) -> Route {
    let (verb, path) = call.split_once(' ').unwrap();
    Route::parse(verb, path, 1_420_070_400_000, |token| token.len() as u64)
}

#[test]
fn every_route_has_a_template() {
    for (call, template) in [
        ("POST /channels/1/messages", "POST /channels/{channel}/messages"),
        (
            "PATCH /channels/1234567890123456/messages/12345678901234567890",
            "PATCH /channels/{channel}/messages/{message}",
        ),
        ("GET /channels/1/messages/pins?limit=3", "GET /channels/{channel}/messages/pins"),
        ("DELETE /channels/1/2", "DELETE /channels/{channel}/{id}"),
        ("GET /applications/@me", "GET /applications/@me"),
        (
            "PUT /channels/1/messages/2/reactions/%F0%9F%94%A5/@me",
            "REACT /channels/{channel}/messages/{message}/reactions",
        ),
        ("DELETE /channels/1/messages/2/reactions", "REACT /channels/{channel}/messages/{message}/reactions"),
        ("GET /channels/1/messages/2/reactions/a:1", "GET /channels/{channel}/messages/{message}/reactions/{emoji}"),
        ("POST /channels/1/polls/2/expire", "POST /channels/{channel}/polls/{poll}/expire"),
        ("PUT /channels/1/voice-status", "PUT /channels/{channel}/voice-status"),
        ("GET /guilds/1/soundboard-sounds/2", "GET /guilds/{guild}/soundboard-sounds/{soundboard-sound}"),
        ("PATCH /webhooks/1/tok-en/messages/@original", "PATCH /webhooks/{webhook}/{token}/messages/{message}"),
        ("POST /interactions/1/t/callback", "POST /interactions/{interaction}/{token}/callback"),
        ("GET /skus/5/subscriptions/6", "GET /skus/{sku}/subscriptions/{subscription}"),
        ("get /invites/abc", "GET /invites/{code}"),
        ("FROB /things-of/tomorrow/7", "FROB /things-of/tomorrow/{tomorrow}"),
        ("GET /", "GET "),
    ] {
        assert_eq!(route(call).template, template, "{call}");
    }
}

#[test]
fn majors_are_channel_guild_webhook() {
    assert_eq!(route("GET /channels/5/pins").peer, Some(Peer::Id(5)));
    assert_eq!(route("GET /guilds/6").peer, Some(Peer::Id(6)));
    assert_eq!(route("GET /webhooks/7").peer, Some(Peer::Id(7)));
    assert_eq!(route("GET /users/8").peer, None);
    // An id beyond what a snowflake can be is nobody's.
    assert_eq!(route("GET /channels/99999999999999999999").peer, None);
}

/// D74, D75: a token in a path tells webhooks apart, and cannot be read from any key.
#[test]
fn d75_tokens_in_paths_are_hashed() {
    let (a, b) = (route("POST /webhooks/7/secret-token"), route("POST /webhooks/7/another-token1"));
    assert_ne!(a.peer, b.peer);
    assert_eq!(a.webhook, b.webhook);
    assert_eq!(a.kind, RouteKind::TokenWebhook);
    for shown in [format!("{a:?}"), format!("{:?}", route("POST /interactions/1/secret-token/callback"))] {
        assert!(!shown.contains("secret-token"), "{shown}");
    }
}

/// D56 in part: deletes by age, and what Discord counts apart though its headers do not say so.
#[test]
fn deletes_are_told_apart_by_age() {
    let now = 1_700_000_000_000_u64;
    let id = |age_ms: u64| (now - age_ms - 1_420_070_400_000) << 22;
    for (age_ms, age) in [
        (0, MessageAge::New),
        (9_999, MessageAge::New),
        (10_000, MessageAge::Recent),
        (14 * 86_400_000, MessageAge::Recent),
        (14 * 86_400_000 + 1, MessageAge::Old),
    ] {
        assert_eq!(MessageAge::of(id(age_ms), now), age, "{age_ms} ms");
    }
    let delete = |age_ms| Route::parse("DELETE", &format!("/channels/1/messages/{}", id(age_ms)), now, |_| 0).method;
    assert_ne!(delete(0), delete(20_000));
    assert_ne!(delete(20_000), delete(15 * 86_400_000));
}

/// D59: only what renames is the route that may do so twice in ten minutes.
#[test]
fn d59_a_rename_is_a_route_of_its_own() {
    let patch = || route("PATCH /channels/1");
    assert_eq!(patch().with_fields(["bitrate"].into_iter()), patch());
    assert_ne!(patch().with_fields(["name"].into_iter()).method, patch().method);
    assert_eq!(
        patch().with_fields(["name"].into_iter()).method,
        patch().with_fields(["nsfw", "topic"].into_iter()).method
    );
}

#[expect(clippy::unnecessary_wraps, reason = "as an answer has them, or not")]
fn headers(limit: u32, remaining: u32, reset_after_ms: u64) -> Option<Headers> {
    Some(Headers { hash: 1, limit, remaining, reset_after: Span::from_millis(reset_after_ms) })
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

#[test]
fn an_unknown_bucket_lets_one_probe_go() {
    let mut learned = Learned::default();
    assert_eq!(learned.earliest(ms(0)), ms(0));
    learned.release(ms(0));
    assert_eq!(learned.earliest(ms(10)), ms(1_000));
    learned.answered(ms(100), ms(0), headers(5, 4, 2_000));
    assert_eq!(learned.earliest(ms(100)), ms(100));
}

#[test]
fn remaining_only_falls_within_a_window_and_a_reset_only_moves_out() {
    let mut learned = Learned::default();
    learned.release(ms(0));
    learned.answered(ms(100), ms(0), headers(5, 2, 2_000));
    learned.release(ms(110));
    learned.release(ms(120));
    // Answers out of order: the later says less than is known.
    learned.answered(ms(130), ms(120), headers(5, 0, 2_500));
    learned.answered(ms(140), ms(110), headers(5, 1, 1_000));
    assert_eq!(learned.earliest(ms(150)), ms(130 + 2_500 + 50));
}

#[test]
fn after_a_window_the_limit_is_the_last_known_one() {
    let mut learned = Learned::default();
    learned.release(ms(0));
    learned.answered(ms(0), ms(0), headers(2, 0, 1_000));
    assert_eq!(learned.earliest(ms(0)), ms(1_050));
    learned.release(ms(1_050));
    assert_eq!(learned.earliest(ms(1_050)), ms(1_050));
    learned.release(ms(1_050));
    assert!(learned.earliest(ms(1_050)) > ms(1_050), "the third of two");
}

fn named(hash: u64, limit: u32, remaining: u32, reset_after_ms: u64) -> Option<Headers> {
    headers(limit, remaining, reset_after_ms).map(|headers| Headers { hash, ..headers })
}

/// While their windows run, all buckets of a route count, and the tightest decides.
#[test]
fn of_two_buckets_the_tightest_decides_while_its_window_runs() {
    let mut learned = Learned::default();
    learned.release(ms(0));
    learned.answered(ms(0), ms(0), named(1, 2, 0, 2_000));
    learned.answered(ms(10), ms(0), named(2, 5, 4, 60_000));
    assert_eq!(learned.earliest(ms(10)), ms(2_050));
    assert_eq!(learned.earliest(ms(2_050)), ms(2_050));
}

/// D86: a route that has moved is not held to the bucket that it left. Until that shows, no more are on their way at once
/// than it had.
#[test]
fn d86_a_new_hash_moves_the_key() {
    let mut learned = Learned::default();
    learned.depart(ms(0));
    learned.answered(ms(0), ms(0), named(1, 1, 0, 2_000));
    learned.landed();
    for at in [2_050, 2_060, 2_070, 2_080] {
        assert_eq!(learned.earliest(ms(at)), ms(at));
        learned.depart(ms(at));
        assert!(learned.earliest(ms(at)) > ms(at), "one is out");
        learned.answered(ms(at + 5), ms(at), named(2, 50, 40, 60_000));
        learned.landed();
    }
    for _ in 0..20 {
        assert_eq!(learned.earliest(ms(2_100)), ms(2_100));
        learned.depart(ms(2_100));
    }
}

/// What is kept of a route is bounded however many names its answers have.
#[test]
fn d86_a_new_name_at_every_answer_leaves_few_buckets() {
    let mut learned = Learned::default();
    for hash in 0..1_000 {
        learned.depart(ms(hash));
        learned.answered(ms(hash), ms(hash), named(hash, 5, 4, 1_000_000));
        learned.landed();
    }
    assert!(format!("{learned:?}").matches("hash").count() <= 4, "{learned:?}");
    assert!(core::mem::size_of::<Learned>() <= 80, "{} bytes of a route", core::mem::size_of::<Learned>());
}

#[test]
fn absurd_values_and_missing_headers_teach_nothing() {
    for absurd in [headers(10_001, 1, 1_000), headers(0, 0, 1_000), headers(5, 0, 3_600_001), None] {
        let mut learned = Learned::default();
        learned.release(ms(0));
        learned.answered(ms(5), ms(0), absurd);
        assert_eq!(learned.earliest(ms(5)), ms(5), "{absurd:?}");
    }
}

#[test]
fn invalid_requests_stop_before_ten_thousand_and_healthy_ones_go_on() {
    let mut guard = InvalidGuard::default();
    for at in 0..u64::from(INVALID_REFUSE) {
        assert_eq!(guard.refuse(ms(at), 7), None);
        guard.answered(ms(at), 7, true);
    }
    let wait = guard.refuse(ms(9_000), 7).unwrap();
    assert!(wait >= Span::from_secs(591) && wait <= Span::from_secs(602), "{wait:?}");
    assert_eq!(guard.refuse(ms(9_000), 8), None, "a healthy route");
    assert_eq!(guard.refuse(ms(9_000) + wait, 7), None);
    guard.answered(ms(9_000), 7, false);
    assert_eq!(guard.refuse(ms(9_000), 7), None, "it has had a good answer since");
}

#[test]
fn a_ban_doubles_while_it_lasts() {
    let mut ban = AddressBan::default();
    let mut now = ms(0);
    for pause_s in [60, 120, 240, 480, 900, 900] {
        ban.struck(now, None);
        ban.struck(now + Span::from_millis(5), None);
        assert_eq!(ban.left(now), Some(Span::from_secs(pause_s)));
        now += Span::from_secs(pause_s);
        assert_eq!(ban.left(now), None);
    }
    ban.lifted(now);
    ban.struck(now, Some(Span::from_secs(7)));
    assert_eq!(ban.left(now), Some(Span::from_secs(7)));
}

/// D78: ten minutes, and a bound on how many.
#[test]
fn d78_a_dead_webhook_stays_dead_for_ten_minutes() {
    let mut dead = DeadWebhooks::default();
    let hook = Peer::Name("webhooks/1/aa".into());
    dead.bury(ms(0), &hook);
    assert_eq!(dead.left(ms(1_000), &hook), Some(Span::from_secs(599)));
    assert_eq!(dead.left(ms(600_000), &hook), None);
    for id in 0..25_000 {
        dead.bury(ms(1), &Peer::Id(id));
    }
    assert_eq!(dead.left(ms(2), &Peer::Id(0)), None, "the oldest is out");
    assert!(dead.left(ms(2), &Peer::Id(24_999)).is_some());
}

/// What leaves at a window's end arrives in the next one, and leaves that much less room there.
#[test]
fn requests_on_their_way_when_a_window_ends_count_in_the_next() {
    let mut learned = Learned::default();
    learned.depart(ms(0));
    learned.answered(ms(20), ms(0), headers(3, 2, 333));
    learned.landed();
    learned.depart(ms(400));
    learned.depart(ms(401));
    // The window ends at 403, by what it was told.
    learned.depart(ms(404));
    assert_eq!(learned.earliest(ms(405)), ms(1_404), "three are out, all of the next window");
    learned.answered(ms(430), ms(400), headers(3, 2, 320));
    learned.landed();
    assert_eq!(learned.earliest(ms(430)), ms(800), "that one, and the two still out, are all of it");
}

#[test]
fn requests_sent_before_a_bucket_is_known_count_in_it() {
    let mut learned = Learned::default();
    learned.depart(ms(0));
    learned.depart(ms(1_000));
    learned.depart(ms(2_000));
    learned.answered(ms(2_100), ms(0), headers(3, 2, 5_000));
    learned.landed();
    assert_eq!(learned.earliest(ms(2_100)), ms(7_150), "two more are on their way");
}
