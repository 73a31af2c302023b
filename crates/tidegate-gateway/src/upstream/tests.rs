mod ends;
mod life;
mod pressure;
mod tls;

use std::time::Duration;

use futures_util::SinkExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_websockets::{Message, ServerBuilder, WebSocketStream};

use super::*;
use crate::wire::codec::{Compression, Deflate};

/// Longer than anything takes that comes at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// Events as text, so that they outlive their payloads.
struct Log(UnboundedSender<String>);

impl Events for Log {
    fn event(&mut self, event: Event<'_>) {
        let line = match &event {
            Event::Dispatch(dispatch) => {
                let data = std::str::from_utf8(&dispatch.payload[dispatch.data.clone()]).unwrap();
                format!("{} {} {data} {:?}", dispatch.seq, dispatch.name, dispatch.read)
            }
            event => format!("{event:?}"),
        };
        let _ = self.0.send(line);
    }

    fn pause(&mut self) {
        let _ = self.0.send(PAUSE.to_owned());
    }
}

const PAUSE: &str = "pause";

struct Client {
    handle: Option<Handle>,
    log: UnboundedReceiver<String>,
}

impl Client {
    /// The next event.
    async fn next(&mut self) -> String {
        loop {
            let line = self.line().await.expect("an event");
            if line != PAUSE {
                return line;
            }
        }
    }

    /// The next event or pause; none once the task has ended.
    async fn line(&mut self) -> Option<String> {
        tokio::time::timeout(PATIENCE, self.log.recv()).await.expect("in time")
    }

    async fn ended(&mut self) {
        while let Some(line) = self.line().await {
            assert_eq!(line, PAUSE, "after the last event");
        }
    }

    fn handle(&self) -> &Handle {
        self.handle.as_ref().unwrap()
    }

    fn close(&mut self, code: u16) {
        self.handle.take().unwrap().close(code);
    }
}

fn bounds() -> Bounds {
    Bounds { connect: PATIENCE, open: PATIENCE, close: PATIENCE }
}

/// Of a test whose peer never answers a close.
fn impatient() -> Bounds {
    Bounds { close: Duration::from_millis(50), ..bounds() }
}

fn dial_to(main: &str, url: &str, compression: Compression, bounds: Bounds) -> Client {
    let dialer = Dialer::new(tidegate_net::tls::client().unwrap(), Vec::new(), compression, bounds);
    let (sender, log) = unbounded_channel();
    let handle = dialer.dial(main, url, Log(sender));
    Client { handle: Some(handle), log }
}

fn dial(listener: &TcpListener, compression: Compression) -> Client {
    let url = format!("ws://{}", listener.local_addr().unwrap());
    dial_to(&url, &url, compression, bounds())
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// A Gateway that says what a test wants.
struct Server {
    socket: WebSocketStream<TcpStream>,
    deflate: Deflate,
    asked: String,
}

impl Server {
    async fn accept(listener: &TcpListener, compression: Compression) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        let (request, socket) = ServerBuilder::new().accept(stream).await.unwrap();
        let asked = format!("{} {:?}", request.uri(), request.headers().get("sec-websocket-extensions"));
        Self { socket, deflate: Deflate::new(compression).unwrap(), asked }
    }

    fn message(&mut self, payload: &str) -> Message {
        let message = self.deflate.message(&bytes::Bytes::copy_from_slice(payload.as_bytes())).unwrap();
        if self.deflate.is_text() { Message::text(message) } else { Message::binary(message) }
    }

    async fn say(&mut self, payload: &str) {
        let message = self.message(payload);
        self.socket.send(message).await.unwrap();
    }

    /// The next message; none at the connection's end.
    async fn hear(&mut self) -> Option<Message> {
        use futures_util::StreamExt as _;
        tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("in time").map(Result::unwrap)
    }
}

async fn pair(compression: Compression) -> (Server, Client) {
    pair_within(compression, bounds()).await
}

async fn pair_within(compression: Compression, bounds: Bounds) -> (Server, Client) {
    let listener = listen().await;
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let mut client = dial_to(&url, &url, compression, bounds);
    let server = Server::accept(&listener, compression).await;
    assert_eq!(client.next().await, "Opened");
    (server, client)
}
