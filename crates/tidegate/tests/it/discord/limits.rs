//! What can be foreseen is never refused.

use serde_json::json;
use tidegate_sandbox::discord::Options;

use super::{Asks, OTHER, Tide, answers, id_of, message, say, statuses};

#[test]
fn thirty_sends_to_each_of_four_channels_all_arrive_in_order() {
    let tide = Tide::new("");
    let answers = answers(tide.in_order((0..120).map(|number| say(1 + number % 4, number / 4))));
    assert_eq!(statuses(&answers), [(200, 120)].into());
    assert!(answers.iter().all(|answer| answer.header("x-tidegate-gate") == Some("discord/send")));
    assert!(answers.iter().all(|answer| answer.header("x-ratelimit-limit") == Some("5")), "passed back as they came");
    tide.assert_clean();
    let stats = tide.stats();
    assert_eq!((stats.total.refused_429, stats.inversions), (0, 0));
}

#[test]
fn answers_that_overtake_each_other_teach_no_wrong_room() {
    let tide = Tide::with(Options { out_of_order: true, ..Options::default() }, "");
    let answers = tide.all((0..100).map(|number| say(1 + number % 4, number)));
    assert_eq!(statuses(&answers), [(200, 100)].into());
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d56_sends_and_deletes_of_one_hash_are_counted_apart() {
    let tide = Tide::slow(0.2);
    let day_old = (0..30).map(|n| Asks::new("DELETE", format!("/channels/7/messages/{}", id_of(86_400_000, n))));
    let mixed = (0..30).map(|number| say(7, number)).chain(day_old);
    let answers = tide.all(mixed);
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 30);
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d58_all_that_changes_reactions_in_a_channel_is_spaced_together() {
    let tide = Tide::slow(0.5);
    let sent = message(&tide, 7);
    let path = |tail: &str| format!("/channels/7/messages/{sent}/reactions{tail}");
    let calls = (0..24).map(|number| match number % 4 {
        0 => Asks::new("PUT", path("/%F0%9F%94%A5/@me")),
        1 => Asks::new("DELETE", path("/%F0%9F%94%A5/@me")),
        2 => Asks::new("PUT", path("/a:1/@me")),
        _ => Asks::new("DELETE", path("")),
    });
    let answers = tide.all(calls);
    assert_eq!(statuses(&answers), [(204, 24)].into());
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d59_a_third_rename_is_refused_with_its_time_and_other_changes_flow() {
    let tide = Tide::new("");
    let patch = |body| Asks::new("PATCH", "/channels/7").json(&body);
    for name in ["a", "b"] {
        assert_eq!(tide.ask(&patch(json!({"name": name}))).status, 200);
    }
    let third = tide.ask(&patch(json!({"name": "c"})).with("X-Tidegate-Max-Hold", "1s"));
    assert_eq!((third.status, third.outcome()), (429, "refused"));
    let told = third.json()["retry_after"].as_f64().unwrap();
    assert!((300.0..=601.0).contains(&told), "{told}");
    assert_eq!(tide.ask(&patch(json!({"nsfw": true}))).status, 200);
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d59_a_refusal_of_another_limit_parks_only_what_would_change_the_same() {
    let tide = Tide::new("");
    tide.force(
        &json!({"route": "/channels/{id}", "method": "PATCH", "answer": {"kind": "user", "retry_after": 582.0}}),
    );
    let patch = |body| Asks::new("PATCH", "/channels/7").json(&body).with("X-Tidegate-Max-Hold", "1s");
    let refused = tide.ask(&patch(json!({"name": "a"})));
    assert_eq!(refused.status, 429);
    assert!(refused.json()["retry_after"].as_f64().unwrap() > 500.0, "not Reset-After");
    // The judge holds the whole bucket in this case; what tidegate parks is looked at alone.
    let again = tide.ask(&patch(json!({"name": "b"})));
    assert_eq!((again.status, again.outcome(), again.header("via")), (429, "refused", Some("1.1 tidegate")));
    assert_eq!(tide.ask(&say(7, 1)).status, 200);
    assert_eq!(tide.stats().total.refused_429, 1);
}

#[test]
fn d60_the_headers_of_every_answer_are_read() {
    let tide = Tide::new("");
    tide.force(&json!({"route": "/channels/{id}/messages", "times": 5, "answer": "403"}));
    let answers = tide.all((0..8).map(|number| say(7, number)));
    assert_eq!(statuses(&answers), [(200, 3), (403, 5)].into());
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d62_clocks_that_differ_do_not_matter() {
    for epoch_unix_ms in [1_600_000_000_000, 1_900_000_000_000] {
        let tide = Tide::limits(|settings| settings.epoch_unix_ms = epoch_unix_ms, "");
        let answers = tide.all((0..12).map(|number| say(7, number)));
        assert_eq!(statuses(&answers), [(200, 12)].into());
        tide.assert_clean();
        assert_eq!(tide.stats().total.refused_429, 0);
    }
}

#[test]
fn d68_three_hundred_channels_at_once_stay_below_fifty_a_second() {
    let tide = Tide::new("");
    let answers = tide.all((0..300).map(|number| say(1000 + number, number)));
    assert_eq!(statuses(&answers), [(200, 300)].into());
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d70_each_bot_has_fifty_a_second_of_its_own() {
    let tide = Tide::new("");
    let both = (0..200).map(|number| match number % 2 {
        0 => say(1000 + number, number),
        _ => say(1000 + number, number).by(OTHER),
    });
    assert_eq!(statuses(&tide.all(both)), [(200, 200)].into());
    tide.assert_clean();
    assert_eq!((tide.stats().total.refused_429, tide.house.status()["bots"].as_array().unwrap().len()), (0, 2));
}

#[test]
fn d71_deletes_of_every_age_wait_for_their_own_bucket() {
    let tide = Tide::new("");
    // A message that is not there is counted with the new ones, so each age has a channel of its own.
    let fresh = (0..4).map(|_| (7, message(&tide, 7))).collect::<Vec<_>>();
    let recent = (0..20).map(|n| (8, id_of(86_400_000, n)));
    let old = (0..40).map(|n| (9, id_of(20 * 86_400_000, n)));
    let deletes = fresh.into_iter().chain(recent).chain(old);
    tide.all(deletes.map(|(channel, id)| Asks::new("DELETE", format!("/channels/{channel}/messages/{id}"))));
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d84_invites_are_kept_below_what_shuts_the_route_for_a_day() {
    let tide = Tide::limits(|settings| settings.limits.other = tidegate_sandbox::discord::Rate::new(1000, 1000), "");
    assert_eq!(tide.ask(&Asks::new("GET", "/invites/1")).status, 200);
    // Long enough for a busy machine, and far shorter than what is left of the ten minutes.
    let look = |n: u64| Asks::new("GET", format!("/invites/{n}")).with("X-Tidegate-Max-Hold", "240s");
    let looks = tide.all((1..300).map(look));
    let counts = statuses(&looks);
    assert_eq!(counts, [(200, 239), (429, 60)].into());
    assert_eq!(tide.stats().bans, 0);
}

#[test]
fn d85_past_fifty_emojis_the_hour_is_told_at_once_and_other_guilds_go_on() {
    // Its bucket as the headers tell it is of no matter here.
    let tide = Tide::limits(|settings| settings.limits.emoji = tidegate_sandbox::discord::Rate::new(1000, 1000), "");
    let emoji = |guild: u64, n: u64| Asks::new("POST", format!("/guilds/{guild}/emojis")).json(&json!({"name": n}));
    assert_eq!(statuses(&tide.all((0..50).map(|n| emoji(1, n)))), [(201, 50)].into());
    // No header showed it coming; whoever asks from now on is told, by tidegate alone from the second on.
    for n in 50..60 {
        let told = tide.ask(&emoji(1, n).with("X-Tidegate-Max-Hold", "60s"));
        assert_eq!((told.status, told.outcome()), (429, "refused"), "{n}");
        let seconds = told.json()["retry_after"].as_f64().unwrap();
        assert!((3000.0..=3601.0).contains(&seconds), "{seconds}");
    }
    assert_eq!((tide.ask(&emoji(2, 0)).status, tide.ask(&say(7, 1)).status), (201, 200));
    tide.assert_clean();
    assert_eq!((tide.stats().total.refused_429, tide.stats().total.calls), (1, 53));
}

#[test]
fn max_global_is_a_setting() {
    let tide = Tide::limits(
        |settings| settings.limits.global = tidegate_sandbox::discord::Rate::new(12, 1000),
        "discord.max_global = 11\n",
    );
    assert_eq!(statuses(&tide.all((0..40).map(|n| say(1000 + n, n)))), [(200, 40)].into());
    assert_eq!(tide.stats().total.refused_429, 0);
}
