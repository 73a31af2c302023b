//! A bare relay between a bot and a Gateway: the same sockets, no session, no ring, nothing read of what passes.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, ServerBuilder, WebSocketStream};

use super::COMPRESSIONS;
use super::wire::codec::{Compression, Deflate, Inflate};

/// Serves until the process is ended. Its first line is its address.
///
/// `work` is `through`, where what comes is handed on as it is, or `anew`, where it is inflated and deflated as it must be
/// where a bot has a stream of its own.
pub fn run(upstream: &str, work: &str, compression: &str) -> Result<()> {
    let upstream: SocketAddr = upstream.parse()?;
    let compression = COMPRESSIONS.iter().find(|(name, _)| *name == compression).context("no such compression")?.1;
    let anew = match work {
        "through" => false,
        "anew" => true,
        other => bail!("{other} is neither through nor anew"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{} .", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(async move {
                // Whoever measures sees that it ended.
                let _ = pass(stream, upstream, compression, anew).await;
            });
        }
    })
}

type Upstream = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn pass(stream: TcpStream, upstream: SocketAddr, compression: Compression, anew: bool) -> Result<()> {
    let (_, mut bot) = ServerBuilder::new().accept(stream).await?;
    let compress = compression.name().map(|name| format!("&compress={name}")).unwrap_or_default();
    let url = format!("ws://{upstream}/?v=10&encoding=json{compress}");
    let (mut gateway, _): (Upstream, _) = ClientBuilder::new().uri(&url)?.connect().await?;
    let mut streams = (Inflate::new(compression)?, Deflate::new(compression)?);
    loop {
        let said = if let Some(said) = gateway.next().now_or_never() {
            said
        } else {
            bot.flush().await?;
            tokio::select! {
                said = gateway.next() => said,
                heard = bot.next() => {
                    gateway.send(heard.context("the bot went")??).await?;
                    continue;
                }
            }
        };
        let said = said.context("the Gateway went")??;
        let said = if anew { again(&mut streams, &said)? } else { said };
        bot.feed(said).await?;
    }
}

fn again((inflate, deflate): &mut (Inflate, Deflate), said: &Message) -> Result<Message> {
    let payload = inflate.message(said.as_payload())?.context("an incomplete message")?;
    let made = deflate.message(&Bytes::copy_from_slice(payload))?;
    Ok(if deflate.is_text() { Message::text(made) } else { Message::binary(made) })
}
