use super::*;

fn told(name: &str, d: &str) -> Option<Told> {
    Told::read(Answer::of(name)?, d.as_bytes(), Some("7"))
}

fn chunk_of(guild: &str, nonce: Option<&str>, index: u64, count: u64) -> Told {
    let nonce = nonce.map(|nonce| format!(r#","nonce":"{nonce}""#)).unwrap_or_default();
    let d = format!(
        r#"{{"members":[{{"guild_id":"no","nonce":"no"}}],"guild_id":"{guild}","chunk_index":{index},"chunk_count":{count}{nonce}}}"#
    );
    told("GUILD_MEMBERS_CHUNK", &d).unwrap()
}

/// Whether a dispatch is about an effect, and whether that has all come then.
fn seen(effect: &mut Effect, told: &Told) -> (bool, bool) {
    let is_told = effect.is_told(told);
    (is_told, is_told && effect.is_over(told))
}

#[test]
fn a_request_for_members_is_over_with_the_last_of_its_chunks() {
    let mut effect = Effect::chunks("1", Some("n".into()));
    for (guild, nonce) in [("2", Some("n")), ("1", Some("m")), ("1", None)] {
        assert_eq!(seen(&mut effect, &chunk_of(guild, nonce, 0, 1)), (false, false), "{guild} {nonce:?}");
    }
    // Discord promises no order among them.
    assert_eq!(seen(&mut effect, &chunk_of("1", Some("n"), 2, 3)), (true, false));
    assert_eq!(seen(&mut effect, &chunk_of("1", Some("n"), 0, 3)), (true, false));
    // Asked again, all come anew.
    effect.goes();
    assert_eq!(seen(&mut effect, &chunk_of("1", Some("n"), 1, 3)), (true, false));
    assert_eq!(seen(&mut effect, &chunk_of("1", Some("n"), 2, 3)), (true, false));
    assert_eq!(seen(&mut effect, &chunk_of("1", Some("n"), 0, 3)), (true, true));
}

#[test]
fn a_nonce_that_discord_leaves_out_is_awaited_by_nobody() {
    let mut effect = Effect::chunks("1", Some("x".repeat(33).into()));
    assert_eq!(seen(&mut effect, &chunk_of("1", None, 0, 1)), (true, true));
}

#[test]
fn a_voice_state_is_seen_where_it_is_the_bots_own_and_the_one_asked_for() {
    let asked = r#"{"guild_id":"1","channel_id":"5","self_mute":false,"self_deaf":true}"#;
    let mut effect = Effect::Voice(serde_json::from_str(asked).unwrap());
    let state = |user: &str, guild: &str, channel: &str, deaf: bool| {
        let d = format!(
            r#"{{"member":{{"user":{{"id":"9"}}}},"user_id":"{user}","guild_id":"{guild}","channel_id":{channel},"session_id":"s","self_deaf":{deaf},"self_mute":false,"mute":false}}"#
        );
        told("VOICE_STATE_UPDATE", &d)
    };
    assert_eq!(state("8", "1", "\"5\"", true), None, "somebody else's");
    for (guild, channel, deaf) in
        [("2", "\"5\"", true), ("1", "\"6\"", true), ("1", "null", true), ("1", "\"5\"", false)]
    {
        assert_eq!(seen(&mut effect, &state("7", guild, channel, deaf).unwrap()), (false, false));
    }
    assert_eq!(seen(&mut effect, &state("7", "1", "\"5\"", true).unwrap()), (true, true));
}

#[test]
fn each_guild_answers_for_itself() {
    let mut effect = Effect::Each { of: Answer::Sounds, guilds: vec!["1".into(), "2".into()] };
    let sounds =
        |guild: &str| told("SOUNDBOARD_SOUNDS", &format!(r#"{{"soundboard_sounds":[],"guild_id":"{guild}"}}"#));
    assert_eq!(seen(&mut effect, &told("CHANNEL_INFO", r#"{"guild_id":"1","channels":[]}"#).unwrap()), (false, false));
    assert_eq!(seen(&mut effect, &sounds("3").unwrap()), (false, false));
    assert_eq!(seen(&mut effect, &sounds("2").unwrap()), (true, false));
    // What was answered once is, whichever connection it was on.
    effect.goes();
    assert_eq!(seen(&mut effect, &sounds("2").unwrap()), (false, false));
    assert_eq!(seen(&mut effect, &sounds("1").unwrap()), (true, true));
}

#[test]
fn what_cannot_be_read_answers_nothing() {
    for (name, d) in [
        ("GUILD_MEMBERS_CHUNK", "{}"),
        ("GUILD_MEMBERS_CHUNK", r#"{"guild_id":"1","chunk_count":"1"}"#),
        ("GUILD_MEMBERS_CHUNK", r#"{"guild_id":1,"chunk_count":1}"#),
        ("VOICE_STATE_UPDATE", r#"{"user_id":7,"guild_id":"1"}"#),
        ("VOICE_STATE_UPDATE", r#"{"user_id":"7"}"#),
        ("SOUNDBOARD_SOUNDS", "{}"),
        ("CHANNEL_INFO", "[]"),
        ("MESSAGE_CREATE", "{}"),
    ] {
        assert_eq!(told(name, d), None, "{name} {d}");
    }
    assert_eq!(Told::read(Answer::VoiceState, br#"{"user_id":"7","guild_id":"1"}"#, None), None, "nobody knows whose");
}
