//! A small raw HTTP client: what is sent is what the test wrote.

use serde_json::Value;
use tidegate_sandbox::Handle as Any;
use tidegate_sandbox::telegram::{Handle, Options, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const TOKEN: &str = "123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
pub(crate) const OTHER: &str = "777:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

pub(crate) async fn start(scale: f64) -> Handle {
    serve("127.0.0.1:0".parse().unwrap(), Options { scale, ..Options::default() }).await.unwrap()
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

/// Sends raw bytes on a connection of its own and reads one answer; `None` if it was cut.
pub(crate) async fn raw<M>(handle: &Any<M>, request: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(handle.addr).await.unwrap();
    stream.write_all(request).await.ok()?;
    read(&mut stream).await
}

pub(crate) async fn read(stream: &mut TcpStream) -> Option<Reply> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let mut reply =
                Reply { status: head.split(' ').nth(1)?.parse().ok()?, head, body: bytes.split_off(end + 4) };
            if reply.status == 204 {
                return Some(reply);
            }
            let length: usize = reply.header("content-length")?.parse().ok()?;
            while reply.body.len() < length {
                if stream.read_buf(&mut reply.body).await.ok()? == 0 {
                    return None;
                }
            }
            return Some(reply);
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

pub(crate) async fn post<M>(handle: &Any<M>, path: &str, kind: &str, body: &[u8]) -> Option<Reply> {
    let mut request =
        format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len())
            .into_bytes();
    request.extend_from_slice(body);
    raw(handle, &request).await
}

pub(crate) async fn get<M>(handle: &Any<M>, path: &str) -> Reply {
    raw(handle, format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.expect("an answer")
}

pub(crate) async fn call(handle: &Handle, method: &str, args: Value) -> Reply {
    try_call(handle, method, args).await.expect("an answer")
}

pub(crate) async fn try_call(handle: &Handle, method: &str, args: Value) -> Option<Reply> {
    post(handle, &format!("/bot{TOKEN}/{method}"), "application/json", args.to_string().as_bytes()).await
}

pub(crate) async fn control<M>(handle: &Any<M>, what: &str, body: Value) -> Reply {
    let reply = post(handle, &format!("/__sandbox/{what}"), "text/plain", body.to_string().as_bytes()).await;
    reply.expect("an answer")
}
