//! Programs that are measured, each a process of its own.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};

/// One that listens. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Open for as long as it may write there.
    _said: BufReader<ChildStdout>,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    Tidegate,
}

/// Nothing is to be held, so the bot's own windows are as wide as they can be.
const WIDE: &[(&str, &str)] = &[
    ("TIDEGATE_POLICY__TELEGRAM__BUCKETS__CHAT_SECOND__BUCKET", "1000/1s"),
    ("TIDEGATE_POLICY__TELEGRAM__BUCKETS__CHAT_SECOND__BURST", "1000"),
    ("TIDEGATE_POLICY__TELEGRAM__BUCKETS__BOT_SECOND__WINDOW", "10000/1s"),
    ("TIDEGATE_POLICY__TELEGRAM__BUCKETS__GROUP_MINUTE__WINDOW", "10000/60s"),
    ("TIDEGATE_POLICY__DISCORD__BUCKETS__BOT_SECOND__WINDOW", "10000/1s"),
];

impl Program {
    /// Starts a proxy before `upstream`; the words of `under` stand before its command line.
    pub(crate) fn proxy(kind: Kind, upstream: SocketAddr, under: &[OsString]) -> Result<Self> {
        match kind {
            Kind::Bare => {
                let mut command = command(&beside("tidegate-bare")?, under);
                command.arg(upstream.to_string());
                Self::start(command)
            }
            Kind::Tidegate => Self::tidegate(upstream, under, WIDE),
        }
    }

    /// Starts `tidegate serve` with one thread before `upstream`.
    pub(crate) fn tidegate(upstream: SocketAddr, under: &[OsString], settings: &[(&str, &str)]) -> Result<Self> {
        let mut command = command(&beside("tidegate")?, under);
        let upstream = format!("http://{upstream}");
        command
            .arg("serve")
            .env("TIDEGATE_LISTEN", "127.0.0.1:0")
            .env("TIDEGATE_ADMIN", "127.0.0.1:0")
            .env("TIDEGATE_THREADS", "1")
            .env("TIDEGATE_LOG", "error")
            .env("TIDEGATE_TELEGRAM__API", &upstream)
            .env("TIDEGATE_DISCORD__API", &upstream)
            .envs(settings.iter().copied());
        Self::start(command)
    }

    /// Starts one whose first line names its address.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child =
            command.stdout(Stdio::piped()).spawn().with_context(|| format!("{command:?} does not start"))?;
        let mut said = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.with_context(|| format!("{command:?} did not say where it listens: {line}"))?;
        Ok(Self { child, address, _said: said })
    }

    /// Nanoseconds that its threads have been on a processor.
    pub(crate) fn on_processor(&self) -> Result<u64> {
        let mut all = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let said = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            all += said.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(all)
    }

    /// Bytes of memory that it has, or (with `peak`) the most that it had since [`Self::forget_peak`].
    pub(crate) fn resident(&self, peak: bool) -> Result<u64> {
        let name = if peak { "VmHWM:" } else { "VmRSS:" };
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kilobytes.context("the system does not tell")? * 1_024)
    }

    /// From now on its peak is counted anew.
    pub(crate) fn forget_peak(&self) -> Result<()> {
        Ok(std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?)
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn end(mut self) -> Result<()> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(program: &Path, under: &[OsString]) -> Command {
    match under {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    }
}

/// A program that was built into the same folder.
fn beside(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(path.exists(), "{} is not built", path.display());
    Ok(path)
}
