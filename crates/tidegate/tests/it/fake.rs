//! A platform that answers as the test says.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What to do with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Closes the connection without an answer.
    Cut,
    /// Says so much, to the byte, and closes the connection.
    Says(String),
    /// Answers once the gate is opened, or never where the client leaves first.
    Wait(Arc<Gate>, Box<Act>),
}

impl Act {
    pub(crate) fn ok(result: &str) -> Self {
        Self::status(200, &format!("{{\"ok\":true,\"result\":{result}}}"))
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self::Answer(status, vec![("Content-Type", "application/json".to_owned())], body.to_owned())
    }

    pub(crate) fn error(status: u16, description: &str) -> Self {
        Self::status(status, &format!("{{\"ok\":false,\"error_code\":{status},\"description\":\"{description}\"}}"))
    }

    pub(crate) fn refused(retry_after: &str) -> Self {
        Self::status(
            429,
            &format!(
                "{{\"ok\":false,\"error_code\":429,\"description\":\"Too Many Requests: retry after {retry_after}\",\
                 \"parameters\":{{\"retry_after\":{retry_after}}}}}"
            ),
        )
    }
}

/// Opened once.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<bool>, Condvar);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn is_open(&self) -> bool {
        *self.1.wait_timeout(self.0.lock().unwrap(), Duration::from_millis(5)).unwrap().0
    }
}

type Script = dyn Fn(usize, &Seen) -> Act + Send + Sync;

/// A running platform.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    /// Now, and the most at once.
    out: Mutex<(usize, usize)>,
    /// Clients that left before they were answered.
    left: Mutex<usize>,
}

impl Fake {
    /// `script` is given the number of the request, from 0, and the request.
    pub(crate) fn start(script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), script)
    }

    /// At an address of which it is known that it is free.
    pub(crate) fn start_at(address: SocketAddr, script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let (shared, script): (_, Arc<Script>) = (Arc::clone(&state), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, script) = (Arc::clone(&shared), Arc::clone(&script));
                std::thread::spawn(move || connection(stream, &shared, &*script));
            }
        });
        Self { address, state }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.state.seen.lock().unwrap().len()
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.state.out.lock().unwrap().1
    }

    pub(crate) fn left(&self) -> usize {
        *self.state.left.lock().unwrap()
    }
}

/// Waits until it holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to that: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn connection(stream: TcpStream, state: &State, script: &Script) {
    let mut stream = BufReader::new(stream);
    while let Some(seen) = request(&mut stream) {
        let number = {
            let mut all = state.seen.lock().unwrap();
            all.push(seen.clone());
            all.len() - 1
        };
        {
            let mut out = state.out.lock().unwrap();
            out.0 += 1;
            out.1 = out.1.max(out.0);
        }
        let act = script(number, &seen);
        let done = perform(stream.get_mut(), act);
        state.out.lock().unwrap().0 -= 1;
        if done.is_none() {
            *state.left.lock().unwrap() += 1;
            return;
        }
    }
}

fn perform(stream: &mut TcpStream, act: Act) -> Option<()> {
    match act {
        Act::Cut => stream.shutdown(std::net::Shutdown::Both).ok(),
        Act::Says(bytes) => {
            stream.write_all(bytes.as_bytes()).ok()?;
            stream.shutdown(std::net::Shutdown::Both).ok()
        }
        Act::Wait(gate, then) => {
            stream.set_nonblocking(true).ok()?;
            while !gate.is_open() {
                if matches!(stream.peek(&mut [0]), Ok(0)) {
                    return None;
                }
            }
            stream.set_nonblocking(false).ok()?;
            perform(stream, *then)
        }
        Act::Answer(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                let _ = write!(head, "{name}: {value}\r\n");
            }
            stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok()
        }
    }
}

fn request(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let mut words = lines[0].split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut seen = Seen { method, target, headers, body: Vec::new() };
    if seen.header("transfer-encoding") == Some("chunked") {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).ok()?;
            if length == 0 {
                break;
            }
            seen.body.extend_from_slice(&chunk[..length]);
        }
    } else if let Some(length) = seen.header("content-length") {
        seen.body.resize(length.parse().ok()?, 0);
        stream.read_exact(&mut seen.body).ok()?;
    }
    Some(seen)
}
