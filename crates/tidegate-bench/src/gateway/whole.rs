//! Whole programs over real sockets, each a process with one thread that serves.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::COMPRESSIONS;
use super::bot::Bot;
use super::source::{self, Script};
use crate::http::program::Program;
use crate::proxy::on_one_thread;
use crate::spread::Spread;

/// Dispatches before it is measured, and while.
const WARM: u64 = 10_000;
const MEASURED: u64 = 100_000;
/// Dispatches under way at once: fewer than a ring holds, so that it is never overtaken.
const WINDOW: usize = 1_000;

/// What stands between the Gateway and the bot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    /// A relay that hands on what comes.
    Through,
    /// A relay that compresses it anew.
    Anew,
    Tidegate,
}

const ALL: [(&str, Between); 3] = [
    ("relay, handed on", Between::Through),
    ("relay, compressed anew", Between::Anew),
    ("tidegate", Between::Tidegate),
];

pub(super) fn report(rounds: usize) -> Result<()> {
    println!("over sockets, both sides compressed alike; median (least to most)");
    for (name, compression) in COMPRESSIONS {
        println!("  {name}");
        let script = Arc::new(Script::new(compression, WARM + MEASURED)?);
        let mut figures = [const { Vec::new() }; ALL.len()];
        // In turn, so that a busy minute of the machine meets all of them.
        for _ in 0..rounds {
            for (measured, (_, between)) in figures.iter_mut().zip(ALL) {
                measured.push(on_one_thread(round(between, name, &script))?);
            }
        }
        for (measured, (name, _)) in figures.iter().zip(ALL) {
            let processor = Spread::of(measured.iter().map(|figure| MEASURED as f64 / figure.processor / 1e3));
            let clock = Spread::of(measured.iter().map(|figure| MEASURED as f64 / figure.clock.as_secs_f64() / 1e3));
            println!("    {name:<24} {processor:.0} thousand a second of processor, {clock:.0} of time");
        }
        for (nth, against) in [(0, "handed on"), (1, "compressed anew")] {
            let pairs = figures[2].iter().zip(&figures[nth]);
            let ratio = Spread::of(pairs.map(|(ours, theirs)| theirs.processor / ours.processor));
            println!("    {ratio:.2} of the relay's, {against}");
        }
    }
    Ok(())
}

struct Figure {
    /// Seconds.
    processor: f64,
    clock: Duration,
}

async fn round(between: Between, name: &str, script: &Arc<Script>) -> Result<Figure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let upstream = listener.local_addr()?;
    let window = Arc::new(Semaphore::new(WINDOW));
    source::serve(listener, Arc::clone(script), Arc::clone(&window));
    let program = match between {
        Between::Tidegate => {
            let compress = [("TIDEGATE_DISCORD__GATEWAY__COMPRESS", name)];
            Program::tidegate(upstream, &[], &compress)?
        }
        Between::Through | Between::Anew => {
            let mut command = Command::new(std::env::current_exe()?);
            let work = if between == Between::Through { "through" } else { "anew" };
            command.args(["relay", &upstream.to_string(), work, name]);
            Program::start(command)?
        }
    };
    let mut bot = Bot::new(program.address, script.compression, window).await?;
    bot.take(WARM - Bot::COMPARED).await?;
    let before = program.on_processor()?;
    let clock = bot.take(MEASURED).await?;
    let processor = (program.on_processor()? - before) as f64 / 1e9;
    Ok(Figure { processor, clock })
}
