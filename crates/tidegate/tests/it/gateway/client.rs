//! A bot that says to the byte what it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use flate2::{Decompress, FlushDecompress};
use serde_json::{Value, json};
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

/// What a bot hears.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    Json(Value),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
    /// The connection ended without a close, or broke.
    Gone,
}

enum Inflate {
    None,
    Zlib(Box<Decompress>),
    Zstd(Box<Decoder<'static>>),
}

/// One connection of a bot.
pub(crate) struct Bot {
    stream: BufReader<TcpStream>,
    inflate: Inflate,
    /// The last dispatch's number.
    pub(crate) seq: u64,
}

impl Bot {
    /// Opens a WebSocket with this target.
    pub(crate) fn open(address: SocketAddr, target: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut stream = BufReader::new(stream);
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        );
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 101"), "{head}");
        assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"), "{head}");
        assert!(!head.contains("extensions"), "{head}");
        let inflate = if target.contains("compress=zlib-stream") {
            Inflate::Zlib(Box::new(Decompress::new(true)))
        } else if target.contains("compress=zstd-stream") {
            Inflate::Zstd(Box::new(Decoder::new().unwrap()))
        } else {
            Inflate::None
        };
        Self { stream, inflate, seq: 0 }
    }

    /// A frame with these first bits.
    pub(crate) fn frame(&mut self, first: u8, payload: &[u8]) {
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..=125 => frame.push(0x80 | u8::try_from(length).unwrap()),
            length @ 126..=65_535 => {
                frame.push(0xfe);
                frame.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            length => {
                frame.push(0xff);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key));
        // Who is closed meanwhile reads why.
        let _ = self.stream.get_mut().write_all(&frame);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.frame(0x81, text.as_bytes());
    }

    pub(crate) fn say(&mut self, payload: &Value) {
        self.text(&payload.to_string());
    }

    pub(crate) fn beat(&mut self) {
        let seq = self.seq;
        self.say(&json!({"op": 1, "d": seq}));
    }

    /// An IDENTIFY with this beside its token.
    pub(crate) fn identify(&mut self, token: &str, more: &Value) {
        let mut d = json!({"token": token, "intents": 513, "properties": {"os": "linux"}});
        d.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.say(&json!({"op": 2, "d": d}));
    }

    pub(crate) fn resume(&mut self, token: &str, session: &str, seq: u64) {
        self.say(&json!({"op": 6, "d": {"token": token, "session_id": session, "seq": seq}}));
    }

    pub(crate) fn close(&mut self, code: u16) {
        self.frame(0x88, &code.to_be_bytes());
    }

    /// What comes next. Silence for 30 s fails.
    pub(crate) fn next(&mut self) -> Heard {
        self.maybe().expect("silence")
    }

    /// Whether nothing comes for so long, of platform time at a twentieth.
    pub(crate) fn is_quiet(&mut self, platform_seconds: f64) -> bool {
        let wait = Duration::from_secs_f64(platform_seconds / 20.0);
        self.stream.get_ref().set_read_timeout(Some(wait)).unwrap();
        let quiet = matches!(self.stream.fill_buf(), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
        self.stream.get_ref().set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        quiet
    }

    fn maybe(&mut self) -> Option<Heard> {
        let mut head = [0; 2];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return None,
            Err(_) => return Some(Heard::Gone),
        }
        assert_eq!(head[1] & 0x80, 0, "a server does not mask");
        let length = match head[1] {
            126 => u64::from(u16::from_be_bytes(self.take())),
            127 => u64::from_be_bytes(self.take()),
            length => u64::from(length),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        if self.stream.read_exact(&mut payload).is_err() {
            return Some(Heard::Gone);
        }
        Some(match head[0] {
            0x81 | 0x82 => {
                assert_eq!(head[0] == 0x81, matches!(self.inflate, Inflate::None), "text where nothing is compressed");
                let value: Value = serde_json::from_slice(&self.inflated(&payload)).unwrap();
                self.seq = value["s"].as_u64().unwrap_or(self.seq);
                Heard::Json(value)
            }
            0x88 => {
                let code = payload.get(..2).map(|code| u16::from_be_bytes([code[0], code[1]]));
                Heard::Close(code, String::from_utf8(payload.get(2..).unwrap_or_default().to_vec()).unwrap())
            }
            0x8a => Heard::Pong(payload),
            first => panic!("a frame that begins with {first:#x}"),
        })
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn inflated(&mut self, message: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(1 << 20);
        match &mut self.inflate {
            Inflate::None => plain.extend(message),
            Inflate::Zlib(context) => {
                assert!(message.ends_with(&[0, 0, 0xff, 0xff]));
                context.decompress_vec(message, &mut plain, FlushDecompress::Sync).unwrap();
            }
            Inflate::Zstd(decoder) => {
                let mut input = InBuffer::around(message);
                let mut output = OutBuffer::around(&mut plain);
                decoder.run(&mut input, &mut output).unwrap();
                assert_eq!(input.pos(), message.len());
            }
        }
        plain
    }

    /// The next payload.
    pub(crate) fn json(&mut self) -> Value {
        match self.next() {
            Heard::Json(value) => value,
            other => panic!("{other:?} in the place of a payload"),
        }
    }

    /// Passes over payloads until one is as wanted.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let value = self.json();
            if wanted(&value) {
                return value;
            }
        }
    }

    pub(crate) fn dispatch(&mut self, name: &str) -> Value {
        self.until(|value| value["t"] == name)
    }

    /// Passes over payloads until it is closed: with which code, and why.
    pub(crate) fn closed(&mut self) -> (u16, String) {
        loop {
            match self.next() {
                Heard::Json(_) | Heard::Pong(_) => {}
                Heard::Close(code, reason) => return (code.expect("a code"), reason),
                Heard::Gone => panic!("gone without a close"),
            }
        }
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.stream.get_mut()
    }
}
