//! The fixed mix of requests: 1,000 tokens with 100 chats or channels each, one after another.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sends::Shape;

/// Bots.
pub(crate) const TOKENS: u64 = 1_000;
/// Chats or channels of all bots together.
pub(crate) const CHATS: u64 = 100_000;

/// Makes the requests of one platform.
#[derive(Debug)]
pub(crate) struct Mix {
    shape: Shape,
    tokens: u64,
    chats: u64,
    next: AtomicU64,
}

impl Mix {
    pub(crate) const fn new(shape: Shape) -> Self {
        Self::of(shape, TOKENS, CHATS)
    }

    /// One of fewer chats, for what is too slow to know all of them first.
    pub(crate) const fn of(shape: Shape, tokens: u64, chats: u64) -> Self {
        Self { shape, tokens, chats, next: AtomicU64::new(0) }
    }

    /// Writes the next request.
    pub(crate) fn next(&self, request: &mut Vec<u8>) {
        let nth = self.next.fetch_add(1, Ordering::Relaxed);
        let (token, chat) = (nth % self.tokens, nth % self.chats);
        request.clear();
        let written = match self.shape {
            Shape::Telegram => telegram(request, token, chat),
            Shape::Discord => discord(request, token, chat),
        };
        // A vector takes all that is written.
        debug_assert!(written.is_ok());
    }
}

const REST: &str = "accept: */*\r\naccept-encoding: gzip, deflate\r\nconnection: keep-alive\r\n\
                    user-agent: Python/3.12 aiohttp/3.12.15\r\ncontent-type: application/json\r\n";

fn telegram(request: &mut Vec<u8>, token: u64, chat: u64) -> std::io::Result<()> {
    // Every other one is a group.
    let sign = if (chat / TOKENS).is_multiple_of(2) { "" } else { "-" };
    let id = 500_000_000 + chat;
    let body =
        format!(r#"{{"chat_id": {sign}{id}, "text": "The tide turns at a quarter past six.", "parse_mode": "HTML"}}"#);
    write!(
        request,
        "POST /bot{}:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw{token:03}/sendMessage HTTP/1.1\r\nhost: tidegate.test\r\n{REST}\
         content-length: {}\r\n\r\n{body}",
        110_000_000 + token,
        body.len()
    )
}

fn discord(request: &mut Vec<u8>, token: u64, channel: u64) -> std::io::Result<()> {
    const BODY: &str = r#"{"content": "The tide turns at a quarter past six.", "tts": false}"#;
    let id = 900_000_000_000_000_000 + channel;
    write!(
        request,
        "POST /api/v10/channels/{id}/messages HTTP/1.1\r\nhost: tidegate.test\r\n{REST}\
         authorization: Bot MTEwMDAwMDAwMDAwMDAw{:04}.GaBcDe.tidegate-bench-has-no-secret-at-all-{token:03}\r\n\
         content-length: {}\r\n\r\n{BODY}",
        1_000 + token,
        BODY.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_long_as_it_says() {
        for shape in [Shape::Telegram, Shape::Discord] {
            let mix = Mix::new(shape);
            let mut request = Vec::new();
            for _ in 0..2 * TOKENS {
                mix.next(&mut request);
                let text = String::from_utf8_lossy(&request);
                let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
                assert!(head.contains(&format!("content-length: {}", body.len())), "{shape:?}: {} bytes", body.len());
            }
        }
    }
}
