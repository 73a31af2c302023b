use super::*;

#[test]
fn every_address_gets_the_query() {
    for (written, dialled) in [
        ("wss://gateway.discord.gg", "wss://gateway.discord.gg/?v=10&encoding=json&compress=zlib-stream"),
        ("wss://gateway.discord.gg/", "wss://gateway.discord.gg/?v=10&encoding=json&compress=zlib-stream"),
        ("wss://gateway.discord.gg?", "wss://gateway.discord.gg/?v=10&encoding=json&compress=zlib-stream"),
        ("wss://a.gg?v=9&encoding=etf", "wss://a.gg/?v=10&encoding=json&compress=zlib-stream"),
        ("wss://a.gg/?compress=zstd-stream&x=1&&y", "wss://a.gg/?v=10&encoding=json&compress=zlib-stream&x=1&y"),
        ("ws://127.0.0.1:9001/gateway", "ws://127.0.0.1:9001/gateway?v=10&encoding=json&compress=zlib-stream"),
        ("ws://[::1]:1//p/?vv=1", "ws://[::1]:1//p/?v=10&encoding=json&compress=zlib-stream&vv=1"),
    ] {
        let address = Address::new(written).unwrap();
        assert_eq!(address.dialled(Compression::Zlib).unwrap().to_string(), dialled, "{written}");
    }
    let plain = Address::new("wss://gateway.discord.gg").unwrap().dialled(Compression::None).unwrap();
    assert_eq!(plain.to_string(), "wss://gateway.discord.gg/?v=10&encoding=json");
}

#[test]
fn the_connector_learns_the_host_alone() {
    let http = |written: &str| Address::new(written).unwrap().as_http().unwrap().to_string();
    assert_eq!(http("wss://gateway.discord.gg/a?b"), "https://gateway.discord.gg/");
    assert_eq!(http("ws://127.0.0.1:9001"), "http://127.0.0.1:9001/");
}

#[test]
fn what_is_no_address() {
    for bad in [
        "",
        "gateway.discord.gg",
        "https://gateway.discord.gg",
        "wss://",
        "wss:///x",
        "/x",
        "wss://a b",
        "WSS//a",
        "wss://gateway.discord.gg@evil.example",
        "wss://user:pass@gateway.discord.gg",
        "wss://a.gg:99999/",
        "wss://a\n.gg",
    ] {
        assert_eq!(Address::new(bad), Err(Refused::NotWebSocket), "{bad}");
    }
}

#[test]
fn where_a_resume_address_may_lie() {
    let hosts = ["proxy.example".to_owned(), "Other.Example.".to_owned()];
    let allowed = |main: &str, url: &str| Address::new(url).unwrap().allowed(&Address::new(main).unwrap(), &hosts);
    let discord = "wss://gateway.discord.gg";
    for url in [
        discord,
        "wss://gateway-us-east1-b.discord.gg",
        "wss://discord.gg",
        "wss://a.b.discord.gg:8443/x?y",
        "wss://GATEWAY.Discord.GG.",
        "wss://proxy.example",
        "wss://a.proxy.example",
        "wss://other.example",
    ] {
        assert_eq!(allowed(discord, url), Ok(()), "{url}");
    }
    for url in [
        "wss://evil.example",
        "wss://evildiscord.gg",
        "wss://discord.gg.evil.example",
        "wss://gg",
        "wss://xproxy.example",
        "wss://example",
        "wss://127.0.0.1",
        "wss://[::1]",
    ] {
        assert_eq!(allowed(discord, url), Err(Refused::Host), "{url}");
    }
    assert_eq!(allowed(discord, "ws://gateway.discord.gg"), Err(Refused::Plain));
    assert_eq!(allowed("ws://127.0.0.1:1", "ws://127.0.0.1:2"), Ok(()));
    assert_eq!(allowed("ws://localhost:1", "wss://localhost:1"), Ok(()));
    for (main, url) in [
        ("ws://127.0.0.1:1", "ws://128.0.0.1:1"),
        ("ws://10.0.0.1", "ws://10.1.0.0.1"),
        ("ws://discord.gg", "ws://x.gg"),
        ("ws://[::1]", "ws://[::2]"),
        ("ws://localhost", "ws://a.localhost"),
    ] {
        assert_eq!(allowed(main, url), Err(Refused::Host), "{main} {url}");
    }
}
