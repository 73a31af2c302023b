use super::*;

const HELLO: &str = r#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}"#;
const READY: &str =
    r#"{"t":"READY","s":1,"op":0,"d":{"session_id":"x","resume_gateway_url":"wss://gateway-b.discord.gg"}}"#;

#[tokio::test]
async fn all_that_discord_says() {
    for compression in [Compression::None, Compression::Zlib, Compression::Zstd] {
        let (mut server, mut client) = pair(compression).await;
        let query = compression.name().map(|name| format!("&compress={name}")).unwrap_or_default();
        assert_eq!(server.asked, format!("/?v=10&encoding=json{query} None"));
        for (said, told) in [
            (HELLO, "Hello { interval: 41.25s }"),
            (
                READY,
                "1 READY {\"session_id\":\"x\",\"resume_gateway_url\":\"wss://gateway-b.discord.gg\"} Ready(Ready { \
                 session_id: \"x\", resume_gateway_url: \"wss://gateway-b.discord.gg\", user_id: None })",
            ),
            (r#"{"t":"MESSAGE_CREATE","s":2,"op":0,"d":{"a":[1]}}"#, "2 MESSAGE_CREATE {\"a\":[1]} Nothing"),
            (r#"{"op":0,"d":{"_trace":[]},"s":3,"t":"RESUMED"}"#, "3 RESUMED {\"_trace\":[]} Resumed"),
            (
                r#"{"t":"RATE_LIMITED","s":4,"op":0,"d":{"opcode":8,"retry_after":1.5}}"#,
                "4 RATE_LIMITED {\"opcode\":8,\"retry_after\":1.5} RateLimited(RateLimited { opcode: 8, \
                 retry_after: 1.5, meta: RateLimitedMeta { guild_id: None, nonce: None } })",
            ),
            (r#"{"t":"RATE_LIMITED","s":5,"op":0,"d":{}}"#, "5 RATE_LIMITED {} Nothing"),
            (r#"{"op":11}"#, "Ack"),
            (r#"{"op":1,"d":null}"#, "BeatAsked"),
            (r#"{"op":7,"d":null}"#, "Reconnect"),
            (r#"{"op":9,"d":true}"#, "InvalidSession { resumable: true }"),
            (r#"{"op":9,"d":false}"#, "InvalidSession { resumable: false }"),
            (r#"{"op":77}"#, "Unknown { op: 77 }"),
        ] {
            server.say(said).await;
            assert_eq!(client.next().await, told, "{compression:?}");
        }
    }
}

#[tokio::test]
async fn frames_are_written_as_text_in_their_order_and_told() {
    let (mut server, mut client) = pair(Compression::Zstd).await;
    for op in [2, 1, 8] {
        client.handle().send(op, format!("{{\"op\":{op}}}").into()).unwrap();
    }
    for op in [2, 1, 8] {
        assert_eq!(client.next().await, format!("Sent {{ op: {op} }}"));
        let heard = server.hear().await.unwrap();
        assert_eq!(heard.as_text(), Some(&*format!("{{\"op\":{op}}}")));
    }
}

#[tokio::test]
async fn messages_in_pieces_and_frames_in_fragments() {
    let listener = listen().await;
    let mut client = dial(&listener, Compression::None);
    let (stream, _) = listener.accept().await.unwrap();
    let config = tokio_websockets::Config::default().frame_size(7);
    let (_, mut socket) = ServerBuilder::new().config(config).accept(stream).await.unwrap();
    socket.send(Message::text(HELLO.to_owned())).await.unwrap();
    assert_eq!(client.next().await, "Opened");
    assert_eq!(client.next().await, "Hello { interval: 41.25s }");

    let (mut server, mut client) = pair(Compression::Zlib).await;
    let whole = server.message(HELLO).into_payload();
    for piece in whole.chunks(5) {
        server.socket.send(Message::binary(piece.to_vec())).await.unwrap();
    }
    assert_eq!(client.next().await, "Hello { interval: 41.25s }");
}

#[tokio::test]
async fn the_address_may_have_a_path_and_a_query() {
    let listener = listen().await;
    let url = format!("ws://{}/gw?x=1&compress=no", listener.local_addr().unwrap());
    let _client = dial_to(&url, &url, Compression::Zlib, bounds());
    let server = Server::accept(&listener, Compression::Zlib).await;
    assert_eq!(server.asked, "/gw?v=10&encoding=json&compress=zlib-stream&x=1 None");
}
