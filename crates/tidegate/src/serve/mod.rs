//! `tidegate serve`: a thread that accepts, threads that serve bots, an admin port beside them, and an orderly end.

mod accept;
mod alarm;
mod connection;
mod drain;
mod first;
mod listen;
mod socket;
mod unread;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tidegate_core::governor::Counted;
use tidegate_tokio::Clock;

pub(crate) use self::connection::shaped;
pub(crate) use self::drain::Drain;
pub(crate) use self::socket::Socket;
use crate::bots::Bot;
use crate::config::{Config, ConfigFlags};
use crate::gateway::Fleets;
use crate::governed::edge::Edge;
use crate::proxy::budget::{Budget, Reserved};
use crate::proxy::upstream::{Upstream, tls};
use crate::{admin, config, discord};
use tidegate_trace::Recorder;

/// Of the drain's time, how much is left for answers to those that are still held.
const LAST_PART: u32 = 10;

/// What all threads share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Instant,
    pub(crate) telegram: Edge,
    pub(crate) discord: discord::Edge,
    pub(crate) fleets: Fleets,
    pub(crate) buffers: Arc<Budget>,
    pub(crate) connections: Arc<Budget>,
    pub(crate) drain: Drain,
}

/// One client's connection.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) upstream: Upstream,
    pub(crate) client: IpAddr,
    /// Its place among the connections that there may be.
    place: Weak<Reserved>,
}

impl Connection {
    fn new(shared: Arc<Shared>, upstream: Upstream, client: IpAddr, place: &Arc<Reserved>) -> Arc<Self> {
        Arc::new(Self { shared, upstream, client, place: Arc::downgrade(place) })
    }

    /// Keeps its place for as long as it is held. `None` once the connection has ended.
    pub(crate) fn place(&self) -> Option<Arc<Reserved>> {
        self.place.upgrade()
    }
}

impl Shared {
    fn new(config: Config, tls: &rustls::ClientConfig) -> anyhow::Result<Self> {
        let clock = Clock::new(config.time_scale);
        Ok(Self {
            clock,
            started: Instant::now(),
            telegram: Edge::new(&config.telegram.api, &config.telegram.policy, clock, &config.bounds)
                .context("telegram.api has no host")?,
            discord: discord::Edge::new(&config, clock).context("discord.api has no host")?,
            fleets: Fleets::new(&config, clock, tls.clone()),
            buffers: Budget::new(config.bounds.buffer_total),
            connections: Budget::new(config.bounds.connections_max),
            drain: Drain::default(),
            config,
        })
    }

    /// The bots of all platforms.
    pub(crate) fn bots(&self) -> Vec<Arc<Bot>> {
        let mut bots = self.telegram.bots.list();
        bots.append(&mut self.discord.bots());
        bots
    }

    /// Writes that wait, over all bots.
    fn held(&self) -> usize {
        let counts = self.bots().into_iter().flat_map(|bot| bot.counters());
        let waiting = counts.filter(|count| count.what == Counted::Held);
        usize::try_from(waiting.map(|count| count.count).sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// Calls that are held or in flight, over all bots.
    pub(crate) fn calls(&self) -> usize {
        self.bots().iter().map(|bot| bot.calls()).sum()
    }
}

/// Runs until it is told to stop.
pub(crate) fn run(config: Config, flags: &ConfigFlags) -> anyhow::Result<()> {
    if let Some(folder) = &config.record {
        let cannot = || format!("nothing can be recorded in {} (record.dir)", folder.display());
        Recorder::try_out(folder).with_context(cannot)?;
    }
    let tls = tls()?;
    let threads = match config.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    let listener =
        listen::listener(config.listen).with_context(|| format!("cannot listen on {} (listen)", config.listen))?;
    let listen = listener.local_addr()?;
    let operators = std::net::TcpListener::bind(config.admin)
        .with_context(|| format!("cannot listen on {} (admin)", config.admin))?;
    operators.set_nonblocking(true)?;
    let admin = operators.local_addr()?;
    let shared = Arc::new(Shared::new(config, &tls)?);
    start_threads(&shared, &tls, threads, listener)?;
    announce(&shared, listen, admin);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let operators = tokio::net::TcpListener::from_std(operators)?;
        tokio::spawn(admin::serve(Arc::clone(&shared), operators));
        signals(&shared, flags).await?;
        tokio::select! {
            () = end(&shared) => tracing::info!("stopped"),
            again = stopped() => {
                again?;
                tracing::warn!(calls = shared.calls(), "told to stop a second time: what is under way is cut off");
                anyhow::bail!("stopped by a second signal");
            }
        }
        Ok(())
    })
}

/// One thread that accepts, and those that serve.
fn start_threads(
    shared: &Arc<Shared>,
    tls: &rustls::ClientConfig,
    threads: usize,
    listener: std::net::TcpListener,
) -> anyhow::Result<()> {
    let mut senders = Vec::with_capacity(threads);
    for index in 0..threads {
        let (sender, arrivals) = tokio::sync::mpsc::unbounded_channel();
        senders.push(sender);
        let shared = Arc::clone(shared);
        let upstream = Upstream::new(tls.clone(), shared.config.bounds.connect_timeout);
        let name = format!("serve-{index}");
        std::thread::Builder::new().name(name).spawn(move || connection::thread(&shared, &upstream, arrivals))?;
    }
    let (shared, senders) = (Arc::clone(shared), senders.into());
    std::thread::Builder::new().name("accept".to_owned()).spawn(move || accept::thread(&shared, &senders, listener))?;
    Ok(())
}

fn announce(shared: &Shared, listen: SocketAddr, admin: SocketAddr) {
    let (telegram, discord) = (&shared.config.telegram, &shared.config.discord);
    println!("tidegate listens for bots on http://{listen} and for operators on http://{admin}");
    println!(
        "Telegram: {}, policy {}; Discord: {}, policy {}",
        telegram.api, telegram.policy.name, discord.api, discord.policy.name
    );
    println!("State is kept in memory only: it ends with this process.");
}

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn stopped() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        let mut stop = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            done = tokio::signal::ctrl_c() => done?,
            _ = stop.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// Waits for the signal to stop; reloads policies and the log level on SIGHUP.
#[cfg(unix)]
async fn signals(shared: &Shared, flags: &ConfigFlags) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut stopped = std::pin::pin!(stopped());
    loop {
        tokio::select! {
            done = &mut stopped => return done,
            _ = hang_up.recv() => reload(shared, flags),
        }
    }
}

#[cfg(not(unix))]
async fn signals(_shared: &Shared, _flags: &ConfigFlags) -> anyhow::Result<()> {
    stopped().await
}

#[cfg(unix)]
fn reload(shared: &Shared, flags: &ConfigFlags) {
    match config::read(flags).and_then(|layers| Config::new(&layers)) {
        Ok(config) => {
            crate::log::set_level(config.log);
            shared.telegram.set_policy(config.telegram.policy);
            shared.discord.set_policy(config.discord.policy);
            tracing::info!("policies and log level reloaded");
        }
        Err(error) => tracing::error!(%error, "the configuration is not reloaded"),
    }
}

/// Lets what is under way come to its end, and refuses what is still held when little time is left.
async fn end(shared: &Shared) {
    let timeout = shared.config.drain_timeout;
    let (held, calls) = (shared.held(), shared.calls());
    let (in_flight, seconds) = (calls.saturating_sub(held), timeout.as_secs_f64());
    tracing::info!(held, in_flight, seconds, "draining: no new work is taken, what is here may still go out");
    shared.drain.begin();
    shared.fleets.stop();
    let quiet = async {
        while shared.connections.used() > 0 || shared.calls() > 0 || shared.fleets.open() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut quiet = std::pin::pin!(quiet);
    if tokio::time::timeout(timeout / LAST_PART * (LAST_PART - 1), &mut quiet).await.is_err() {
        tracing::warn!(held = shared.held(), "what is still held is refused");
        shared.drain.refuse_held();
        let _ = tokio::time::timeout(timeout / LAST_PART, &mut quiet).await;
    }
}
