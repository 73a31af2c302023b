use futures_util::StreamExt as _;
use tokio_websockets::ClientBuilder;

use super::*;

/// A server's frame of spaces.
fn frame(length: usize) -> Vec<u8> {
    let mut frame = vec![0x82, 127];
    frame.extend_from_slice(&(length as u64).to_be_bytes());
    frame.resize(frame.len() + length, b' ');
    frame
}

/// How many of the small messages behind a large one were read into its memory.
async fn read_into(mut large: Option<Large>) -> usize {
    const SMALL: usize = 0x10000;
    let wire = [frame(1 << 20), frame(SMALL).repeat(8)].concat();
    let mut socket = ClientBuilder::new().take_over(tokio::io::join(&*wire, tokio::io::sink()));
    let mut place = 0..0;
    let mut within = 0;
    while let Some(Ok(message)) = socket.next().await {
        let start = message.as_payload().as_ptr().addr();
        if message.as_payload().len() > SMALL {
            place = start..start + message.as_payload().len();
        } else {
            within += usize::from(place.contains(&start));
        }
        if let Some(large) = &mut large {
            large.came(&message);
        }
    }
    within
}

#[tokio::test]
async fn a_large_messages_memory_is_given_back() {
    assert_eq!(read_into(Some(Large::default())).await, 0);
    // Or there is nothing to give back.
    assert_ne!(read_into(None).await, 0);
}
