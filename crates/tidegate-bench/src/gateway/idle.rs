//! Many shards that nothing happens on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, WebSocketStream};

use super::bot::identify;
use super::source::{self, Script};
use super::wire::codec::Compression;
use crate::http::program::Program;
use crate::proxy::on_one_thread;

const SHARDS: usize = 1_000;
/// How long nothing happens, and how long after the last login.
const IDLE: Duration = Duration::from_secs(20);
const SETTLE: Duration = Duration::from_secs(2);
/// As HELLO says.
const BEAT: Duration = Duration::from_millis(41_250);
/// Without a word for so long it is over.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn report() -> Result<()> {
    on_one_thread(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let upstream = listener.local_addr()?;
        let script = Arc::new(Script::new(Compression::None, 0)?);
        source::serve(listener, script, Arc::new(Semaphore::new(0)));
        let program = Program::tidegate(upstream, &[], &[("TIDEGATE_DISCORD__GATEWAY__COMPRESS", "none")])?;
        // The first takes what all have together.
        login(program.address, 0).await?;
        let before = program.resident(false)?;
        for shard in 1..SHARDS {
            login(program.address, shard).await?;
        }
        tokio::time::sleep(SETTLE).await;
        let each = (program.resident(false)?.saturating_sub(before)) as f64 / (SHARDS - 1) as f64 / 1024.0;
        let start = program.on_processor()?;
        tokio::time::sleep(IDLE).await;
        let spent = (program.on_processor()? - start) as f64 / 1e9 / IDLE.as_secs_f64() * 100.0;
        println!("{SHARDS} idle shards, each with its bot, nothing compressed:");
        println!("  {each:.1} KiB of resident memory each");
        println!("  {spent:.2} % of a processor, all heartbeats answered");
        Ok(())
    })
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Logs a shard in, and lets it beat from then on.
async fn login(address: SocketAddr, shard: usize) -> Result<()> {
    let url = format!("ws://{address}/?v=10&encoding=json");
    let (mut socket, _) = ClientBuilder::new().uri(&url)?.connect().await?;
    hear(&mut socket, r#""op":10"#).await?;
    socket.send(Message::text(identify(shard, SHARDS))).await?;
    hear(&mut socket, r#""t":"READY""#).await?;
    tokio::spawn(async move {
        // Spread as the bots' own jitter would.
        tokio::time::sleep(BEAT.mul_f64(shard as f64 / SHARDS as f64)).await;
        while beat(&mut socket).await.is_ok() {}
    });
    Ok(())
}

async fn beat(socket: &mut Socket) -> Result<()> {
    socket.send(Message::text(r#"{"op":1,"d":1}"#)).await?;
    hear(socket, r#""op":11"#).await?;
    tokio::time::sleep(BEAT).await;
    Ok(())
}

async fn hear(socket: &mut Socket, word: &str) -> Result<()> {
    let message = tokio::time::timeout(PATIENCE, socket.next()).await.context("nothing comes")?;
    let message = message.context("the connection has ended")??;
    let text = message.as_text().unwrap_or_default();
    ensure!(text.contains(word), "{message:?} where {word} should be");
    Ok(())
}
