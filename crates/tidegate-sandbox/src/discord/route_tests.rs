use expect_test::expect;

use super::*;

#[test]
fn routes_are_known_whatever_the_ids() {
    let paths = "GET /users/@me|GET /users/%40me|GET /oauth2/applications/@me|POST /channels/1/messages|\
        DELETE /channels/1/messages/2|\
        PUT /channels/1/messages/2/reactions/x:3/@me|PUT /channels/1/messages/pins/2|GET /channels/1/messages/pins|\
        POST /channels/1/messages/bulk-delete|PATCH /channels/1|GET /guilds/1/members/2|POST /webhooks/1/SeCrEt_1|\
        PATCH /webhooks/1/SeCrEt/messages/@original|DELETE /webhooks/1|POST /interactions/1/SeCrEt/callback|\
        GET /invites/abc|POST /channels/x/messages|PUT /applications/1/guilds/2/commands|BREW /tea/SeCrEt|GET /";
    let seen: Vec<String> = paths
        .split('|')
        .map(|path| {
            let (verb, path) = path.split_once(' ').unwrap();
            let route = Route::of(verb, path);
            let message = route.message.map(|id| format!(" message {id}")).unwrap_or_default();
            let major = route.major.to_string();
            // A token's hash is the same in one build only.
            let major = major.rsplit_once(':').map_or(String::new(), |(kind, last)| {
                if last.len() == 16 { format!(" {kind}:#") } else { format!(" {kind}:{last}") }
            });
            format!("{} {:?}{major}{message}", route.name, route.kind)
        })
        .collect();
    expect![[r#"
        GET /users/@me Me
        GET /users/@me Me
        GET /oauth2/applications/@me Application
        POST /channels/{id}/messages Send channel:1
        DELETE /channels/{id}/messages/{id} DeleteMessage channel:1 message 2
        PUT /channels/{id}/messages/{id}/reactions/{emoji}/@me React channel:1 message 2
        PUT /channels/{id}/messages/pins/{id} Pin channel:1 message 2
        GET /channels/{id}/messages/pins Pins channel:1
        POST /channels/{id}/messages/bulk-delete BulkDelete channel:1
        PATCH /channels/{id} PatchChannel channel:1
        GET /guilds/{id}/members/{id} Member guild:1
        POST /webhooks/{id}/{token} ExecuteWebhook webhook:1:#
        PATCH /webhooks/{id}/{token}/messages/@original EditHookMessage webhook:1:#
        DELETE /webhooks/{id} DeleteWebhook webhook:1
        POST /interactions/{id}/{token}/callback Callback interaction:1:#
        GET /invites/{code} Invite
        POST /channels/x/messages Other { read: false }
        PUT /applications/{id}/guilds/{id}/commands Other { read: false }
        BREW /tea/{other} Other { read: false }
        GET /{other} Other { read: true }"#]]
    .assert_eq(&seen.join("\n"));
}

#[test]
fn an_id_may_have_any_length() {
    let of = |id: &str| Route::of("POST", &format!("/channels/{id}/messages"));
    let (one, other) = (of("123456789012345678901234567890"), of("123456789012345678901234567891"));
    assert_eq!((one.kind, &one.name), (Kind::Send, &other.name));
    assert_ne!(one.major, other.major);
}

#[test]
fn a_long_path_is_cut() {
    let route = Route::of("GET", &"/aaaaaaaaaaaaaaaaaaaaaaa".repeat(10_000));
    assert!(route.name.len() < 200, "{}", route.name.len());
}
