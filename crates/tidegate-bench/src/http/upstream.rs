//! A platform that takes everything at once. It reads no more than it must, so that the proxy before it is what is slow.

use anyhow::{Context as _, Result};
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it reads at once.
const BUFFER: usize = 64 << 10;

const TELEGRAM: &str = concat!(
    "HTTP/1.1 200 OK\r\nserver: nginx\r\ndate: Mon, 30 Nov 2026 06:00:00 GMT\r\ncontent-type: application/json\r\n",
    "content-length: 236\r\nconnection: keep-alive\r\n\r\n",
    r#"{"ok":true,"result":{"message_id":4711,"from":{"id":110000000,"is_bot":true,"first_name":"Tide","#,
    r#""username":"tide_bot"},"chat":{"id":500000000,"first_name":"Ada","type":"private"},"date":1795000000,"#,
    r#""text":"The tide turns at a quarter."}}"#
);
const DISCORD: &str = concat!(
    "HTTP/1.1 200 OK\r\ndate: Mon, 30 Nov 2026 06:00:00 GMT\r\ncontent-type: application/json\r\n",
    "content-length: 171\r\nconnection: keep-alive\r\nx-ratelimit-bucket: 3cd1f278bd0ecaf11e0d2391c2c8f3ea\r\n",
    "x-ratelimit-limit: 5\r\nx-ratelimit-remaining: 4\r\nx-ratelimit-reset: 1795000001.250\r\n",
    "x-ratelimit-reset-after: 1.250\r\nvia: 1.1 google\r\ncf-cache-status: DYNAMIC\r\nserver: cloudflare\r\n\r\n",
    r#"{"id":"1100000000000000000","type":0,"content":"The tide turns at a quarter past six.","#,
    r#""channel_id":"900000000000000000","author":{"id":"1","username":"tide"},"tts":false}"#
);
const CALLBACK: &str = "HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n";

/// Serves for as long as the runtime runs.
pub(crate) async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            // A connection that breaks off is the proxy's to mind.
            let _ = connection(stream).await;
        });
    }
}

async fn connection(mut stream: TcpStream) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut filled = 0;
    loop {
        let head = loop {
            if let Some(end) = memmem::find(&buffer[..filled], b"\r\n\r\n") {
                break end + 4;
            }
            let read = stream.read(&mut buffer[filled..]).await?;
            if read == 0 {
                return Ok(());
            }
            filled += read;
        };
        let answer = answer(&buffer[..head]);
        let whole = head + length(&buffer[..head]).unwrap_or(0);
        let mut left = whole.saturating_sub(filled);
        buffer.copy_within(whole.min(filled)..filled, 0);
        filled -= whole.min(filled);
        while left > 0 {
            let most = left.min(BUFFER);
            let read = stream.read(&mut buffer[..most]).await?;
            left -= Some(read).filter(|read| *read > 0).context("the body broke off")?;
        }
        stream.write_all(answer.as_bytes()).await?;
    }
}

fn answer(head: &[u8]) -> &'static str {
    if head.starts_with(b"POST /bot") {
        TELEGRAM
    } else if memmem::find(head, b"/callback HTTP").is_some() {
        CALLBACK
    } else {
        DISCORD
    }
}

/// What a head says of its body's length. Both proxies write header names in lower case.
pub(crate) fn length(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let from = memmem::find(head, NAME)? + NAME.len();
    let digits = head[from..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_as_long_as_it_says() {
        for answer in [TELEGRAM, DISCORD] {
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
            assert_eq!(length(head.as_bytes()), Some(body.len()), "{body}");
        }
    }
}
