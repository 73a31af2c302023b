//! A Gateway that says dispatches as fast as they are taken.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_websockets::{Message, ServerBuilder, WebSocketStream};

use super::corpus::dispatches;
use super::discord::Discord;
use super::wire::codec::Compression;

const HELLO: &str = r#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}"#;
const READY: &str = concat!(
    r#"{"t":"READY","s":1,"op":0,"d":{"v":10,"user":{"id":"1"},"guilds":[],"session_id":"bench","#,
    r#""resume_gateway_url":"ws://127.0.0.1"}}"#
);
const ACK: &str = r#"{"op":11}"#;

/// All that is said on one connection, made before it is measured.
pub(super) struct Script {
    pub(super) compression: Compression,
    hello: Bytes,
    ready: Bytes,
    /// Frames, one behind the other, and where each ends.
    frames: Vec<u8>,
    ends: Vec<usize>,
}

impl Script {
    pub(super) fn new(compression: Compression, count: u64) -> Result<Self> {
        let mut discord = Discord::new(compression)?;
        let mut made = |payload: String| discord.message(&Bytes::from(payload));
        let hello = made(HELLO.to_owned())?;
        let ready = made(READY.to_owned())?;
        let (mut frames, mut ends) = (Vec::new(), Vec::new());
        for payload in dispatches(2, count) {
            frame(compression, &made(payload)?, &mut frames);
            ends.push(frames.len());
        }
        Ok(Self { compression, hello, ready, frames, ends })
    }

    fn message(&self, said: &Bytes) -> Message {
        if self.compression == Compression::None { Message::text(said.clone()) } else { Message::binary(said.clone()) }
    }
}

/// A WebSocket frame of a server.
fn frame(compression: Compression, message: &[u8], frames: &mut Vec<u8>) {
    frames.push(if compression == Compression::None { 0x81 } else { 0x82 });
    match u16::try_from(message.len()) {
        Ok(length) if length < 126 => frames.push(message.len().to_le_bytes()[0]),
        Ok(length) => {
            frames.push(126);
            frames.extend_from_slice(&length.to_be_bytes());
        }
        Err(_) => {
            frames.push(127);
            frames.extend_from_slice(&(message.len() as u64).to_be_bytes());
        }
    }
    frames.extend_from_slice(message);
}

/// Serves a script, over and over, on this runtime. Each dispatch takes a permit of `window`.
pub(super) fn serve(listener: TcpListener, script: Arc<Script>, window: Arc<Semaphore>) {
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (script, window) = (Arc::clone(&script), Arc::clone(&window));
            tokio::spawn(async move {
                // A connection that breaks off is seen at the other end.
                let _ = connection(stream, &script, &window).await;
            });
        }
    });
}

async fn connection(stream: TcpStream, script: &Script, window: &Semaphore) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut head = [0; 2048];
    let length = stream.peek(&mut head).await?;
    let asked = String::from_utf8_lossy(&head[..length]).to_ascii_lowercase();
    if !asked.contains("upgrade: websocket") {
        return api(stream).await;
    }
    let (_, mut socket) = ServerBuilder::new().accept(stream).await?;
    socket.send(script.message(&script.hello)).await?;
    identified(&mut socket).await?;
    socket.send(script.message(&script.ready)).await?;
    let mut said = 0;
    while said < script.ends.len() {
        let first = window.acquire().await?;
        first.forget();
        let mut more = 1;
        while more < 64 && said + more < script.ends.len() {
            let Ok(permit) = window.try_acquire() else { break };
            permit.forget();
            more += 1;
        }
        let from = if said == 0 { 0 } else { script.ends[said - 1] };
        said += more;
        // Nothing of the library's own is under way that it could come between.
        socket.get_mut().write_all(&script.frames[from..script.ends[said - 1]]).await?;
    }
    while let Some(heard) = socket.next().await {
        // Beats. What is measured with a compression is over before one is missed.
        if heard?.is_text() && script.compression == Compression::None {
            socket.send(Message::text(ACK)).await?;
        }
    }
    Ok(())
}

/// Waits for IDENTIFY.
async fn identified(socket: &mut WebSocketStream<TcpStream>) -> Result<()> {
    loop {
        let heard = socket.next().await.context("no IDENTIFY")??;
        let text = heard.as_text().context("IDENTIFY is not text")?.replace(' ', "");
        if text.contains("\"op\":2") {
            return Ok(());
        }
        if !text.contains("\"op\":1") {
            bail!("{text} before IDENTIFY");
        }
        // Nobody that is measured beats before IDENTIFY with a compression on.
        socket.send(Message::text(ACK)).await?;
    }
}

/// Answers all that is asked over HTTP with what a Gateway proxy wants to know.
async fn api(mut stream: TcpStream) -> Result<()> {
    let address: SocketAddr = stream.local_addr()?;
    let body = format!(
        r#"{{"url":"ws://{address}","shards":1,"session_start_limit":{{"total":100000,"remaining":100000,"reset_after":0,"max_concurrency":1000}}}}"#
    );
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut buffer = [0; 4096];
    // One call at a time, each in one piece: the caller is known.
    while stream.read(&mut buffer).await? > 0 {
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
