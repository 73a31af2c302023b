use super::*;

fn dispatch(seq: u64) -> String {
    format!(r#"{{"t":"X","s":{seq},"op":0,"d":{{}}}}"#)
}

#[tokio::test]
async fn a_peer_that_reads_nothing_is_still_read_and_can_be_closed() {
    let (mut server, mut client) = pair_within(Compression::Zlib, impatient()).await;
    let frame = bytes::Bytes::from(vec![b' '; 64 << 10]);
    let mut sent = 0;
    let mut idle = 0;
    // Until the sockets' buffers are full and then the queue is.
    while idle < 20 {
        let taken = client.handle().send(8, frame.clone());
        (sent, idle) = if taken.is_ok() { (sent + 1, 0) } else { (sent, idle + 1) };
        if taken.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(sent < 10_000, "the queue has no bound");
    }
    for seq in 1..=500 {
        server.say(&dispatch(seq)).await;
    }
    let mut seq = 0;
    while seq < 500 {
        let told = client.next().await;
        if told.ends_with("Nothing") {
            seq += 1;
            assert_eq!(told, format!("{seq} X {{}} Nothing"));
        }
    }
    client.close(4000);
    assert_eq!(client.next().await, r#"Closed { code: None, reason: "" }"#);
    client.ended().await;
}

#[tokio::test]
async fn pings_of_a_peer_that_reads_no_pongs_come_to_an_end() {
    let (mut server, mut client) = pair(Compression::Zlib).await;
    let flood = async { while server.socket.feed(Message::ping(vec![0; 125])).await.is_ok() {} };
    tokio::select! {
        () = flood => {}
        told = client.next() => assert_eq!(told, "Failed(Pings)"),
    }
}

#[tokio::test]
async fn a_flood_leaves_others_their_turn() {
    let (mut server, mut client) = pair(Compression::Zlib).await;
    let mut wire = Vec::new();
    for seq in 1..=2000 {
        let message = server.message(&dispatch(seq)).into_payload();
        wire.extend_from_slice(&[0x82, u8::try_from(message.len()).unwrap()]);
        wire.extend_from_slice(&message);
    }
    tokio::io::AsyncWriteExt::write_all(server.socket.get_mut(), &wire).await.unwrap();
    let (mut seen, mut run, mut longest) = (0, 0, 0);
    while seen < 2000 {
        if client.line().await.unwrap() == PAUSE {
            run = 0;
        } else {
            (seen, run) = (seen + 1, run + 1);
            longest = longest.max(run);
        }
    }
    assert!((2..=64).contains(&longest), "{longest} at once");
}
