//! A bot that takes all it is given.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, WebSocketStream};

use super::corpus::dispatches;
use super::wire::codec::{Compression, Inflate};

/// What a bot says of itself, as one shard of so many.
pub(super) fn identify(shard: usize, of: usize) -> String {
    let token = "MTEwMDAwMDAwMDAwMDAwMDAwMA.GaBcDe.bench-bench-bench-bench-bench-bench-bench";
    format!(r#"{{"op":2,"d":{{"token":"Bot {token}","intents":513,"shard":[{shard},{of}],"#)
        + r#""properties":{"os":"linux","browser":"tide","device":"tide"}}}"#
}

/// Without a word for so long it is over.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Bot {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    window: Arc<Semaphore>,
}

impl Bot {
    /// So many are read and compared; of the rest it is enough that they come.
    pub(super) const COMPARED: u64 = 2_000;

    /// Connects and compares the first dispatches with what was said.
    pub(super) async fn new(address: SocketAddr, compression: Compression, window: Arc<Semaphore>) -> Result<Self> {
        let compress = compression.name().map(|name| format!("&compress={name}")).unwrap_or_default();
        let url = format!("ws://{address}/?v=10&encoding=json{compress}");
        let (socket, _) = ClientBuilder::new().uri(&url)?.connect().await?;
        let mut bot = Self { socket, window };
        let mut inflate = Inflate::new(compression)?;
        for opening in [r#""op":10"#, r#""t":"READY""#] {
            let message = bot.next().await?;
            let payload = inflate.message(message.as_payload())?.context("an incomplete message")?;
            let payload = String::from_utf8_lossy(payload);
            ensure!(payload.contains(opening), "{payload} where {opening} should be");
            if opening.contains("10") {
                bot.socket.send(Message::text(identify(0, 1))).await?;
            }
        }
        for expected in dispatches(2, Self::COMPARED) {
            let message = bot.next().await?;
            let payload = inflate.message(message.as_payload())?.context("an incomplete message")?;
            ensure!(payload == expected.as_bytes(), "{} is not {expected}", String::from_utf8_lossy(payload));
            bot.window.add_permits(1);
        }
        Ok(bot)
    }

    /// Takes so many; gives how long they took to come.
    pub(super) async fn take(&mut self, count: u64) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..count {
            self.next().await?;
            self.window.add_permits(1);
        }
        Ok(start.elapsed())
    }

    async fn next(&mut self) -> Result<Message> {
        let message = tokio::time::timeout(PATIENCE, self.socket.next()).await.context("nothing comes any more")?;
        let message = message.context("the connection has ended")??;
        ensure!(!message.is_close(), "closed: {:?}", message.as_close());
        Ok(message)
    }
}
