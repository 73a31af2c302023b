//! One WebSocket.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio_websockets::{CloseCode, Error, Limits, Message, ServerBuilder, WebSocketStream};

use super::deflate::Writer;
use super::links::{Link, Links};
use crate::discord::Model;
use crate::discord::gateway::{Accepted, ConnId, Output};
use crate::server::Shared;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Longest message that is read at all, in bytes; over it the WebSocket itself refuses.
const PAYLOAD_MAX: usize = 1 << 20;
/// How long a client has to answer a close frame, real time.
const GOODBYE: Duration = Duration::from_secs(5);
/// How long a frozen connection is kept, real time.
const FROZEN: Duration = Duration::from_secs(600);

pub(crate) async fn run(
    shared: Arc<Shared<Model>>,
    links: Arc<Links>,
    accepted: Accepted,
    upgrade: OnUpgrade,
    mut link: Link,
) {
    let conn = accepted.conn;
    let code = match (upgrade.await, Writer::new(accepted.compress)) {
        (Ok(upgraded), Some(mut writer)) => {
            let limits = Limits::default().max_payload_len(Some(PAYLOAD_MAX));
            let mut socket = ServerBuilder::new().limits(limits).serve(TokioIo::new(upgraded));
            serve(&shared, conn, &mut socket, &mut writer, &mut link).await
        }
        _ => None,
    };
    links.leave(conn);
    let now = shared.now();
    shared.model().gateway.closed(now, conn, code);
    shared.news.notify_waiters();
}

/// Until the connection ends; the client's close code.
async fn serve(
    shared: &Shared<Model>,
    conn: ConnId,
    socket: &mut Socket,
    writer: &mut Writer,
    link: &mut Link,
) -> Option<u16> {
    let dead = Arc::clone(&link.dead);
    loop {
        tokio::select! {
            () = dead.notified() => return None,
            output = link.outputs.recv() => {
                let wrote = async { write(socket, writer, link, output?).await };
                tokio::select! {
                    () = dead.notified() => return None,
                    wrote = wrote => wrote?,
                }
            }
            message = socket.next() => match message {
                Some(Ok(message)) if message.is_close() => {
                    let _ = socket.flush().await;
                    return Some(message.as_close().map_or(1005, |(code, _)| code.into()));
                }
                Some(Ok(message)) if message.is_text() || message.is_binary() => {
                    let now = shared.now();
                    shared.model().gateway.receive(now, conn, message.as_payload());
                    shared.news.notify_waiters();
                }
                Some(Ok(_)) => {}
                Some(Err(Error::PayloadTooLong { .. })) => return Some(1009),
                Some(Err(_)) | None => return None,
            },
        }
    }
}

/// Writes an output and those that wait behind it; `None` ends the connection.
async fn write(socket: &mut Socket, writer: &mut Writer, link: &mut Link, first: Output) -> Option<()> {
    let mut output = first;
    loop {
        match output {
            Output::Write { frame, .. } => {
                link.bytes.fetch_sub(frame.text.len(), Ordering::Relaxed);
                socket.feed(writer.message(&frame.text)?).await.ok()?;
            }
            Output::Close { code, reason, twice, .. } => {
                say_goodbye(socket, code, reason, twice).await;
                return None;
            }
            Output::Cut { .. } => return None,
            Output::Freeze { .. } => {
                socket.flush().await.ok()?;
                tokio::time::sleep(FROZEN).await;
                return None;
            }
        }
        match link.outputs.try_recv() {
            Ok(next) => output = next,
            Err(_) => return socket.flush().await.ok(),
        }
    }
}

/// Writes the close frame and waits for the client's.
async fn say_goodbye(socket: &mut Socket, code: u16, reason: &'static str, twice: bool) {
    let code = CloseCode::try_from(code).ok().filter(|code| !code.is_reserved());
    let goodbye = async {
        socket.send(Message::close(code, reason)).await.ok()?;
        if twice {
            let mut raw = vec![0x88];
            match code {
                Some(code) => {
                    raw.push(2);
                    raw.extend_from_slice(&u16::from(code).to_be_bytes());
                }
                None => raw.push(0),
            }
            socket.get_mut().write_all(&raw).await.ok()?;
        }
        while socket.next().await.is_some_and(|message| message.is_ok()) {}
        Some(())
    };
    let _ = tokio::time::timeout(GOODBYE, goodbye).await;
}
