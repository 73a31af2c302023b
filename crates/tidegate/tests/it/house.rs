//! A tidegate of the test's own.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::client::{Answer, Client, ask};
use crate::fake::{Fake, until};

/// A token as Telegram's are, and the part of it that must never show.
pub(crate) const TOKEN: &str = "123456:AAHsecretsecretsecretsecretsecret00";
pub(crate) const SECRET: &str = "AAHsecret";

/// A running program.
pub(crate) struct House {
    pub(crate) listen: SocketAddr,
    pub(crate) admin: SocketAddr,
    child: Child,
    output: Arc<Mutex<String>>,
}

/// The program with a configuration of its own, not started yet.
pub(crate) fn program(arguments: &[&str], config: &str) -> Command {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file =
        std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}.toml", std::process::id()));
    std::fs::write(&file, config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(arguments).arg("--config").arg(file);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TIDEGATE_")) {
        command.env_remove(name);
    }
    command
}

impl House {
    /// Before `fake`, with further lines of configuration. Platform time runs a hundred times faster.
    pub(crate) fn before(fake: &Fake, config: &str) -> Self {
        Self::start(&format!("time_scale = 0.01\ntelegram.api = \"http://{}\"\n{config}", fake.address))
    }

    pub(crate) fn start(config: &str) -> Self {
        let mut lines = String::new();
        for (key, value) in
            [("listen", "\"127.0.0.1:0\""), ("admin", "\"127.0.0.1:0\""), ("threads", "2"), ("log", "\"trace\"")]
        {
            if !config.lines().any(|line| line.starts_with(&format!("{key} "))) {
                let _ = writeln!(lines, "{key} = {value}");
            }
        }
        let mut command = program(&["serve"], &format!("{lines}{config}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let (started, first) = mpsc::channel();
        collect(child.stdout.take().unwrap(), &output, Some(started));
        collect(child.stderr.take().unwrap(), &output, None);
        let line = first.recv_timeout(Duration::from_secs(30));
        let line = line.unwrap_or_else(|_| panic!("it did not start: {}", output.lock().unwrap()));
        let mut addresses = line
            .split("http://")
            .skip(1)
            .map(|rest| rest.split_whitespace().next().unwrap().parse::<SocketAddr>().unwrap());
        let (listen, admin) = (addresses.next().unwrap(), addresses.next().unwrap());
        Self { listen, admin, child, output }
    }

    /// A call of a method with a form as its body.
    pub(crate) fn call(&self, method: &str, form: &str) -> Answer {
        self.call_with(method, &[], form)
    }

    pub(crate) fn call_with(&self, method: &str, headers: &[(&str, &str)], form: &str) -> Answer {
        let mut client = self.begin(method, headers, form);
        client.read().expect("an answer")
    }

    /// Sends a call without waiting for its answer.
    pub(crate) fn begin(&self, method: &str, headers: &[(&str, &str)], form: &str) -> Client {
        let mut client = Client::connect(self.listen);
        let headers = [headers, &[("Content-Type", "application/x-www-form-urlencoded")]].concat();
        client.send("POST", &format!("/bot{TOKEN}/{method}"), &headers, form.as_bytes());
        client
    }

    pub(crate) fn admin(&self, path: &str) -> Answer {
        ask(self.admin, "GET", path, &[("Host", &self.admin.to_string())], b"")
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        self.admin("/v1/status").json()
    }

    /// Writes that wait, over all bots.
    pub(crate) fn held(&self) -> u64 {
        let status = self.status();
        status["bots"].as_array().unwrap().iter().map(|bot| bot["held"].as_u64().unwrap()).sum()
    }

    /// All that it has printed so far.
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// Waits until it has printed that; what it prints comes through a pipe.
    pub(crate) fn has_said(&self, text: &str) {
        until(text, || self.output().contains(text));
    }

    pub(crate) fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            assert!(!self.output().contains("panicked"), "it panicked: {}", self.output());
        }
    }
}

fn collect(from: impl Read + Send + 'static, into: &Arc<Mutex<String>>, first: Option<mpsc::Sender<String>>) {
    let into = Arc::clone(into);
    std::thread::spawn(move || {
        let mut first = first;
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if let Some(first) = first.take() {
                let _ = first.send(line.clone());
            }
            let _ = writeln!(into.lock().unwrap(), "{line}");
        }
    });
}
