//! One thread accepts, and gives each connection to the thread of the bot that it begins with.
//!
//! So all calls of a bot that come in one after another, over however many connections, meet its governor in that order,
//! and a bot's lock is seldom wanted by two threads. Threads that accept for themselves would overtake each other.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use tidegate_proxy::{Context, REST, Reserved, shaped};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;

use super::first;

/// After an error of accept itself, mostly too many open files.
const PAUSE: Duration = Duration::from_millis(50);
/// Behind the last connection that was waiting when the drain began.
const LAST_LOOK: Duration = Duration::from_millis(20);
/// Enough for `POST /bot<token>/`, and mostly for an `Authorization` header.
const FIRST_WORDS: usize = 1024;

/// A connection on its way to its thread. There are never more than there may be connections.
pub(super) struct Arrived {
    pub(super) stream: StdStream,
    pub(super) client: IpAddr,
    pub(super) place: Reserved,
}

/// Accepts until the drain has begun.
pub(super) fn thread(
    shared: &Arc<Context>,
    threads: &Arc<[UnboundedSender<Arrived>]>,
    listener: std::net::TcpListener,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "no connection can be accepted"),
    };
    runtime.block_on(async {
        match TcpListener::from_std(listener) {
            Ok(listener) => accept(shared, threads, listener).await,
            Err(error) => tracing::error!(%error, "no connection can be accepted"),
        }
    });
}

async fn accept(shared: &Arc<Context>, threads: &Arc<[UnboundedSender<Arrived>]>, listener: TcpListener) {
    let mut drain = shared.drain.begun();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = drain.wait() => break,
        };
        take(shared, threads, accepted).await;
    }
    // Those that the system has accepted already are answered too.
    let waiting = async {
        while let Ok(accepted) = tokio::time::timeout(LAST_LOOK, listener.accept()).await {
            take(shared, threads, accepted).await;
        }
    };
    let _ = tokio::time::timeout(REST, waiting).await;
    drop(listener);
    // What was accepted is still handed over.
    std::future::pending::<()>().await;
}

async fn take(
    shared: &Arc<Context>,
    threads: &Arc<[UnboundedSender<Arrived>]>,
    accepted: io::Result<(TcpStream, SocketAddr)>,
) {
    match accepted {
        Ok((stream, client)) => match shared.connections.take(1) {
            Some(place) => {
                let _ = stream.set_nodelay(true);
                let (shared, threads) = (Arc::clone(shared), Arc::clone(threads));
                tokio::spawn(async move { hand_over(&shared, &threads, stream, client.ip(), place).await });
            }
            None => {
                tokio::spawn(turn_away(stream));
            }
        },
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Waits for the first words of a connection, without taking them off it, and gives it to its thread.
async fn hand_over(
    shared: &Context,
    threads: &[UnboundedSender<Arrived>],
    stream: TcpStream,
    client: IpAddr,
    place: Reserved,
) {
    let mut words = [0; FIRST_WORDS];
    let mut drain = shared.drain.begun();
    let silent = async {
        let going_down = async {
            drain.wait().await;
            tokio::time::sleep(REST).await;
        };
        let _ = tokio::time::timeout(shared.config.bounds.idle_timeout, going_down).await;
    };
    let length = tokio::select! {
        biased;
        Ok(length) = stream.peek(&mut words) => length,
        () = silent => return,
        else => return,
    };
    if let Some(fault) = first::fault(&words[..length]) {
        return say(stream, "400 Bad Request", "", &shaped(400, &format!("Bad Request: {fault}"))).await;
    }
    let handed: io::Result<()> = stream.into_std().map(|stream| {
        let thread = threads.get(first::thread_of(&words[..length], threads.len()));
        // A thread ends with the process only.
        let _ = thread.map(|thread| thread.send(Arrived { stream, client, place }));
    });
    if let Err(error) = handed {
        tracing::debug!(%error, "a connection was lost");
    }
}

/// One connection too many: an answer all the same, once something was asked.
async fn turn_away(stream: TcpStream) {
    const BODY: &str = concat!(
        r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","#,
        r#""parameters":{"retry_after":5}}"#
    );
    say(stream, "429 Too Many Requests", "retry-after: 5\r\nx-tidegate-outcome: refused\r\n", BODY).await;
}

/// Answers what a connection begins with, and ends it. For a second at most.
async fn say(mut stream: TcpStream, status: &str, headers: &str, body: &str) {
    let mut asked = [0; 1024];
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\
         via: 1.1 tidegate\r\nconnection: close\r\n\r\n{body}"
    );
    let talk = async {
        let _ = stream.read(&mut asked).await;
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        // What is still unread would reset the connection before the answer was read.
        while stream.read(&mut asked).await.is_ok_and(|read| read > 0) {}
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), talk).await;
}
