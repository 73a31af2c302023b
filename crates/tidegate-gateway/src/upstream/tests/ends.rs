use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

#[tokio::test]
async fn discord_closes() {
    let (mut server, mut client) = pair(Compression::Zlib).await;
    let code = tokio_websockets::CloseCode::try_from(4004).unwrap();
    server.socket.send(Message::close(Some(code), "Authentication failed.")).await.unwrap();
    assert_eq!(client.next().await, r#"Closed { code: Some(4004), reason: "Authentication failed." }"#);
    let answer = server.hear().await.unwrap();
    assert_eq!(answer.as_close().map(|(code, _)| u16::from(code)), Some(4004));
    assert!(server.hear().await.is_none());
    client.ended().await;
    assert_eq!(client.handle().send(1, "{}".into()), Err(Full));
}

#[tokio::test]
async fn discord_closes_without_a_code_or_a_word() {
    let (mut server, mut client) = pair(Compression::None).await;
    server.socket.send(Message::close(None, "")).await.unwrap();
    assert_eq!(client.next().await, r#"Closed { code: None, reason: "" }"#);

    let (server, mut client) = pair(Compression::None).await;
    drop(server);
    assert_eq!(client.next().await, r#"Closed { code: None, reason: "" }"#);
    client.ended().await;
}

#[tokio::test]
async fn we_close_and_what_waits_is_dropped() {
    for code in [1000, 4000] {
        let (mut server, mut client) = pair(Compression::Zlib).await;
        client.handle().send(3, "{}".into()).unwrap();
        client.close(code);
        let heard = server.hear().await.unwrap();
        assert_eq!(heard.as_close().map(|(code, _)| u16::from(code)), Some(code));
        assert!(server.hear().await.is_none());
        assert_eq!(client.next().await, format!("Closed {{ code: Some({code}), reason: \"\" }}"));
        client.ended().await;
    }
}

#[tokio::test]
async fn a_connection_that_nobody_holds_is_closed_so_that_its_session_lives() {
    let (mut server, mut client) = pair(Compression::Zlib).await;
    client.handle = None;
    assert_eq!(server.hear().await.unwrap().as_close().map(|(code, _)| u16::from(code)), Some(4000));
    drop(server);
    assert!(client.next().await.starts_with("Closed"));
}

#[tokio::test]
async fn a_peer_that_never_answers_the_close_is_dropped() {
    let (mut server, mut client) = pair_within(Compression::Zlib, impatient()).await;
    client.close(4000);
    assert_eq!(client.next().await, r#"Closed { code: None, reason: "" }"#);
    client.ended().await;
    // Its socket is gone: after what it wrote there is an end.
    let mut read = Vec::new();
    let end = tokio::time::timeout(PATIENCE, server.socket.get_mut().read_to_end(&mut read)).await.unwrap();
    assert!(end.is_ok() && read.starts_with(&[0x88]), "{end:?} {read:x?}");
}

#[tokio::test]
async fn a_dial_is_given_up() {
    let listener = listen().await;
    let mut client = dial(&listener, Compression::Zlib);
    let (_silent, _) = listener.accept().await.unwrap();
    client.close(4000);
    assert_eq!(client.next().await, r#"Closed { code: None, reason: "" }"#);
    client.ended().await;
}

#[tokio::test]
async fn a_host_that_opens_no_websocket_is_given_up_in_time() {
    let listener = listen().await;
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let bounds = Bounds { open: Duration::from_millis(50), ..bounds() };
    let mut client = dial_to(&url, &url, Compression::Zlib, bounds);
    assert_eq!(client.next().await, "Failed(Timeout(50ms))");
    client.ended().await;
}

async fn answered(answer: &str) -> String {
    let listener = listen().await;
    let mut client = dial(&listener, Compression::Zlib);
    let (mut stream, _) = listener.accept().await.unwrap();
    let _ = stream.read(&mut [0; 1024]).await.unwrap();
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    let told = client.next().await;
    client.ended().await;
    told
}

#[tokio::test]
async fn a_refused_handshake_tells_its_status() {
    let refused = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(answered(refused).await, "Failed(Status(429))");
    assert_eq!(answered("HTTP/1.1 301 Moved\r\nlocation: ws://evil.example\r\n\r\n").await, "Failed(Status(301))");
    let unproven = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Accept: bm90IHRoZSBhbnN3ZXIgdG8gaXQ=\r\n\r\n";
    for answer in [unproven, "SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK", ""] {
        let told = answered(answer).await;
        assert!(told.starts_with("Failed(Handshake("), "{answer}: {told}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut_off() {
    let endless = format!("HTTP/1.1 101 Switching Protocols\r\nx: {}", "x".repeat(1 << 20));
    assert_eq!(answered(&endless).await, r#"Failed(Handshake("an answer without an end"))"#);
}

#[tokio::test]
async fn nobody_there_and_no_tls_there() {
    let listener = listen().await;
    let address = listener.local_addr().unwrap();
    let url = format!("wss://{address}");
    let mut client = dial_to(&url, &url, Compression::Zlib, bounds());
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut first = [0];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(first, [22], "a TLS handshake");
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    assert!(client.next().await.starts_with("Failed(Connect("));

    drop(listener);
    let url = format!("ws://{address}");
    let mut client = dial_to(&url, &url, Compression::Zlib, bounds());
    assert!(client.next().await.starts_with("Failed(Connect("));
}

#[tokio::test]
async fn another_host_is_never_dialled() {
    let listener = listen().await;
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let mut client = dial_to("wss://gateway.discord.gg", &url, Compression::Zlib, bounds());
    assert_eq!(client.next().await, "Failed(Address(Plain))");
    let mut client = dial_to("ws://gateway.discord.gg", &url, Compression::Zlib, bounds());
    assert_eq!(client.next().await, "Failed(Address(Host))");
    let mut client = dial_to(&url, "http://127.0.0.1", Compression::Zlib, bounds());
    assert_eq!(client.next().await, "Failed(Address(NotWebSocket))");
    assert!(futures_util::FutureExt::now_or_never(listener.accept()).is_none(), "somebody dialled");
}

#[tokio::test]
async fn what_cannot_be_read_ends_the_connection() {
    for (payload, told) in [
        ("{\"op\":0", "Failed(Malformed(NotJson))"),
        ("{}", "Failed(Malformed(NoOp))"),
        (r#"{"op":0,"t":"X","d":{}}"#, r#"Failed(Malformed(Field("s")))"#),
        (r#"{"op":0,"s":1,"d":{}}"#, r#"Failed(Malformed(Field("t")))"#),
        (r#"{"op":0,"s":1,"t":"READY","d":{}}"#, r#"Failed(Malformed(Field("session_id")))"#),
        (r#"{"op":10,"d":{}}"#, r#"Failed(Malformed(Field("heartbeat_interval")))"#),
    ] {
        let (mut server, mut client) = pair(Compression::Zstd).await;
        server.say(payload).await;
        assert_eq!(client.next().await, told, "{payload}");
        client.ended().await;
    }
}

#[tokio::test]
async fn bad_data_and_bombs_end_the_connection() {
    let (mut server, mut client) = pair(Compression::Zlib).await;
    server.socket.send(Message::binary(&b"not zlib"[..])).await.unwrap();
    assert_eq!(client.next().await, "Failed(Broken(Data))");

    let (mut server, mut client) = pair(Compression::Zlib).await;
    let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut bomb, &vec![b' '; 17 << 20]).unwrap();
    server.socket.send(Message::binary(bomb.finish().unwrap())).await.unwrap();
    assert_eq!(client.next().await, "Failed(Broken(TooLarge))");

    let (mut server, mut client) = pair(Compression::None).await;
    let _ = server.socket.send(Message::text("x".repeat(17 << 20))).await;
    let told = client.next().await;
    assert!(told.starts_with("Failed(Socket("), "{told}");
}
