//! Answers of every kind, cut anywhere, are read as a plain model and as hyper's own client read them.

use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Framed {
    Length,
    /// The sizes of the chunks go round; each has that much extension.
    Chunked {
        sizes: Vec<usize>,
        extension: usize,
        trailers: usize,
    },
    Close,
}

#[derive(Clone, Debug)]
struct Said {
    method: &'static str,
    minor: u8,
    status: u16,
    hints: usize,
    headers: Vec<(String, String)>,
    connection: &'static str,
    framed: Framed,
    body: Vec<u8>,
}

impl Said {
    fn is_bodiless(&self) -> bool {
        self.method == "HEAD" || matches!(self.status, 204 | 304)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(self.hints);
        out.extend(format!("HTTP/1.{} {} Some reason\r\n", self.minor, self.status).into_bytes());
        for (name, value) in &self.headers {
            out.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        out.extend_from_slice(self.connection.as_bytes());
        match &self.framed {
            Framed::Length => out.extend(format!("Content-Length: {}\r\n\r\n", self.body.len()).into_bytes()),
            Framed::Chunked { .. } => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n"),
            Framed::Close => out.extend_from_slice(b"\r\n"),
        }
        if self.is_bodiless() {
            return out;
        }
        let Framed::Chunked { sizes, extension, trailers } = &self.framed else {
            out.extend_from_slice(&self.body);
            return out;
        };
        let (mut rest, mut sizes, mut extended) = (&self.body[..], sizes.iter().cycle(), 0);
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            // Of all of them together hyper takes 16 KiB.
            extended += extension + 2;
            let extension = if *extension > 0 && extended < 8 << 10 {
                format!(";{}", "e".repeat(*extension))
            } else {
                String::new()
            };
            out.extend(format!("{:x}{extension}\r\n", chunk.len()).into_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
            rest = behind;
        }
        out.extend_from_slice(b"0\r\n");
        out.extend_from_slice(&b"x-trailer: 1\r\n".repeat(*trailers));
        out.extend_from_slice(b"\r\n");
        out
    }

    fn keeps(&self) -> bool {
        let closes = matches!(self.framed, Framed::Close) && !self.is_bodiless();
        let told = if self.minor == 0 { self.connection.contains("alive") } else { !self.connection.contains("close") };
        told && !closes
    }
}

fn said() -> impl Strategy<Value = Said> {
    let framed = prop_oneof![
        2 => Just(Framed::Length),
        3 => (prop::collection::vec(1..9_000_usize, 1..6), 0..20_usize, 0..4_usize)
            .prop_map(|(sizes, extension, trailers)| Framed::Chunked { sizes, extension, trailers }),
        1 => Just(Framed::Close),
    ];
    let connection = prop_oneof![
        4 => Just(""),
        1 => Just("Connection: keep-alive\r\n"),
        1 => Just("Connection: close\r\n"),
        1 => Just("connection: X-Once\r\nx-once: 1\r\n"),
    ];
    let headers = prop::collection::vec(("x-[a-z]{1,12}", "[!-~]([ -~]{0,40}[!-~])?"), 0..12);
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        (0..70_000_usize).prop_map(|length| (0..=250).cycle().take(length).collect()),
    ];
    let status = prop_oneof![Just(200_u16), Just(204), Just(304), Just(400), Just(429), Just(502)];
    let method = prop_oneof![5 => Just("POST"), 1 => Just("HEAD")];
    (method, 0..=1_u8, status, 0..3_usize, headers, connection, framed, body).prop_map(
        |(method, minor, status, hints, headers, connection, framed, body)| {
            // Chunks are no part of HTTP/1.0.
            let minor = if matches!(framed, Framed::Chunked { .. }) { 1 } else { minor };
            Said { method, minor, status, hints, headers, connection, framed, body }
        },
    )
}

/// Answers one call with these bytes, cut there.
async fn say(stub: &Stub, bytes: Vec<u8>, cuts: Vec<usize>) -> TcpStream {
    let mut stream = stub.accept().await;
    head(&mut stream).await;
    let mut from = 0;
    for cut in cuts {
        drip(&mut stream, [&bytes[from..cut]]).await;
        from = cut;
    }
    // More than the sockets hold waits for whoever reads.
    let _ = stream.write_all(&bytes[from..]).await;
    stream
}

/// What hyper's own client reads.
async fn by_hyper(stub: &Stub, said: &Said) -> Got {
    let stream = TcpStream::connect(stub.listener.local_addr().unwrap()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driven = tokio::spawn(connection);
    let request = Request::builder().method(said.method).uri("/").body(Empty::<Bytes>::new()).unwrap();
    let asks = async {
        let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.map_err(Fault::Client).map(http_body_util::Collected::to_bytes);
        Got { status: parts.status.as_u16(), headers: parts.headers, body }
    };
    let says = async { drop(say(stub, said.bytes(), Vec::new()).await) };
    let (got, ()) = within(async { tokio::join!(asks, says) }).await;
    driven.abort();
    got
}

/// What goes to a client of these headers.
fn passed(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let own = ["connection", "transfer-encoding", "x-once"];
    let passed = headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut passed: Vec<_> = passed.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    // Those of one name keep their order.
    passed.sort_by(|one, other| one.0.cmp(&other.0));
    passed
}

async fn check(said: Said, cuts: Vec<prop::sample::Index>) {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), parts(said.method, "/", &[]), whole(""));
    let bytes = said.bytes();
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
    cuts.sort_unstable();
    let (got, stream) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let stream = say(&stub, bytes, cuts).await;
        // Kept open where that is what was said, so that nothing is read that only an end tells.
        said.keeps().then_some(stream)
    });
    let got = got.unwrap();
    let body = if said.is_bodiless() { &[][..] } else { &said.body };
    assert_eq!(got.status, said.status);
    assert!(got.body.as_ref().unwrap() == body);
    let by_hyper = by_hyper(&stub, &said).await;
    assert_eq!((by_hyper.status, passed(&by_hyper.headers)), (said.status, passed(&got.headers)));
    assert!(by_hyper.body.unwrap() == got.body.unwrap());
    assert!(!got.headers.contains_key("x-once"));
    // What was kept may be used again, and nothing else.
    assert_eq!(upstream.pool.take(Platform::Telegram).is_some(), said.keeps());
    drop(stream);
}

proptest! {
    #[test]
    fn answers_are_read_as_they_were_meant(said in said(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(said, cuts));
    }
}
