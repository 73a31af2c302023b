//! `tidegate serve`: a thread that accepts, threads that serve bots, an admin port beside them, and an orderly end.

mod accept;
mod first;
mod listen;
mod worker;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tidegate_proxy::Upstream;
use tidegate_trace::Recorder;

use crate::app::App;
use crate::config::{Config, ConfigFlags};
use crate::signals::{stopped, stopped_or};
use crate::{admin, config};

/// Of the drain's time, how much is kept at least for answers to what was sent in it.
const LAST_PART: u32 = 10;
/// Behind the drain's time: for answers to be written that tidegate gives in the place of platforms.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often it is looked whether all is quiet.
const LOOK: Duration = Duration::from_millis(10);

/// Runs until it is told to stop.
pub(crate) fn run(config: Config, flags: &ConfigFlags) -> anyhow::Result<()> {
    if let Some(folder) = &config.gateway.record {
        let cannot = || format!("nothing can be recorded in {} (record.dir)", folder.display());
        Recorder::try_out(folder).with_context(cannot)?;
    }
    let tls = tidegate_net::tls::client()?;
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
    let app = Arc::new(App::new(config, &tls)?);
    start_threads(&app, &tls, threads, listener)?;
    announce(&app, listen, admin);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let operators = tokio::net::TcpListener::from_std(operators)?;
        tokio::spawn(admin::serve(Arc::clone(&app), operators));
        stopped_or(|| reload(&app, flags)).await?;
        tokio::select! {
            // It listens before it is said that the drain has begun.
            biased;
            again = stopped() => {
                again?;
                tracing::warn!(calls = app.proxy.calls(), "told to stop a second time: what is under way is cut off");
                anyhow::bail!("stopped by a second signal");
            }
            () = end(&app) => tracing::info!("stopped"),
        }
        Ok(())
    })
}

/// One thread that accepts, and those that serve.
fn start_threads(
    app: &Arc<App>,
    tls: &rustls::ClientConfig,
    threads: usize,
    listener: std::net::TcpListener,
) -> anyhow::Result<()> {
    let mut senders = Vec::with_capacity(threads);
    for index in 0..threads {
        let (sender, arrivals) = tokio::sync::mpsc::unbounded_channel();
        senders.push(sender);
        let proxy = Arc::clone(&app.proxy);
        let drain = Arc::clone(&proxy.context.drain);
        let upstream = Upstream::new(tls.clone(), app.config.proxy.bounds.connect_timeout, drain);
        let name = format!("serve-{index}");
        std::thread::Builder::new().name(name).spawn(move || worker::thread(&proxy, &upstream, arrivals))?;
    }
    let (context, senders) = (Arc::clone(&app.proxy.context), senders.into());
    std::thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || accept::thread(&context, &senders, listener))?;
    Ok(())
}

fn announce(app: &App, listen: SocketAddr, admin: SocketAddr) {
    let (telegram, discord) = (&app.config.proxy.telegram, &app.config.proxy.discord);
    println!("tidegate listens for bots on http://{listen} and for operators on http://{admin}");
    println!(
        "Telegram: {}, policy {}; Discord: {}, policy {}",
        telegram.api, telegram.policy.name, discord.api, discord.policy.name
    );
    println!("State is kept in memory only: it ends with this process.");
}

fn reload(app: &App, flags: &ConfigFlags) {
    match config::read(flags).and_then(|layers| Config::new(&layers)) {
        Ok(config) => {
            crate::log::set_level(config.log);
            app.proxy.set_policies(config.proxy.telegram.policy, config.proxy.discord.policy);
            tracing::info!("policies and log level reloaded");
        }
        Err(error) => tracing::error!(%error, "the configuration is not reloaded"),
    }
}

/// Nobody is connected any more, and nothing is under way.
fn is_quiet(app: &App) -> bool {
    app.proxy.context.connections.used() == 0 && app.proxy.calls() == 0 && app.gateway.open() == 0
}

/// How long before the end of the drain the last call is sent: an answer may take so long.
fn last_part(app: &App) -> Duration {
    let slow = app.proxy.context.clock.real(app.proxy.slow_answers());
    slow.max(app.config.proxy.drain_timeout / LAST_PART)
}

/// Lets what is under way come to its end. What is still held is refused when what is sent would not be answered in time;
/// what is still with a platform is answered without it when the time is over.
async fn end(app: &App) {
    let (proxy, drain) = (&app.proxy, &app.proxy.context.drain);
    let timeout = app.config.proxy.drain_timeout;
    let (held, calls) = (proxy.held(), proxy.calls());
    let (in_flight, seconds) = (calls.saturating_sub(held), timeout.as_secs_f64());
    tracing::info!(held, in_flight, seconds, "draining: no new work is taken, what is here may still go out");
    drain.begin();
    app.gateway.stop();
    let begun = Instant::now();
    while !is_quiet(app) && begun.elapsed() < timeout + LAST_WORDS {
        if !drain.is_late() && begun.elapsed() + last_part(app) >= timeout {
            tracing::warn!(held = proxy.held(), "what is still held is refused");
            drain.refuse_held();
        }
        if !drain.is_over() && begun.elapsed() >= timeout {
            let in_flight = proxy.calls();
            tracing::warn!(in_flight, "the time is over: what is still with a platform is answered 503");
            drain.end();
        }
        tokio::time::sleep(LOOK).await;
    }
}
