//! Discord's interaction callbacks while the bot's own budget is full and calls are held for it.

use std::cell::Cell;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;

use crate::http::load::{Client, Run, open};
use crate::http::program::Program;
use crate::proxy::{on_one_thread, platform};
use crate::spread::Spread;

/// Calls that wait for the bot's budget at any time.
const HELD: u64 = 200;
/// Callbacks come this far apart.
const PAUSE: Duration = Duration::from_millis(4);
/// How long each is measured.
const SPAN: Duration = Duration::from_secs(5);
const PAIRS: usize = 3;
const TOKEN: &str = "Bot MTEwMDAwMDAwMDAwMDAwMDAwMA.GaBcDe.tidegate-bench-has-no-secret-at-all";

/// Measures and prints.
pub fn report() -> Result<()> {
    let runs = on_one_thread(async {
        let program = Program::tidegate(platform().await?, &[], &[])?;
        // The first call shows that the token works.
        Client::connect(program.address).await?.call(send(0).as_bytes()).await?;
        let mut runs: [Vec<Run>; 2] = <[Vec<Run>; 2]>::default();
        for _ in 0..PAIRS {
            runs[0].push(callbacks(program.address).await?);
            let load: Vec<_> = (1..=HELD).map(|channel| tokio::spawn(always(program.address, channel))).collect();
            // Until the budget of the first second is gone.
            tokio::time::sleep(Duration::from_secs(2)).await;
            runs[1].push(callbacks(program.address).await?);
            for held in load {
                held.abort();
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        Ok(runs)
    })?;
    println!("interaction callbacks, one every {PAUSE:?}, {PAIRS} pairs in turn, in microseconds:");
    for (name, runs) in ["bot at rest", "budget full, 200 calls held"].into_iter().zip(&runs) {
        let within = |share| Spread::of(runs.iter().map(|run| run.within(share)));
        println!("  {name}: p50 {:.0}, p99 {:.0}, the slowest {:.0}", within(0.5), within(0.99), within(1.0));
    }
    for share in [0.5, 0.99, 1.0] {
        let later = runs[1].iter().zip(&runs[0]).map(|(full, rest)| full.within(share) - rest.within(share));
        println!("  later at {share}: {:.0}", Spread::of(later));
    }
    Ok(())
}

async fn callbacks(address: SocketAddr) -> Result<Run> {
    let nth = Cell::new(0);
    let next = |request: &mut Vec<u8>| {
        nth.set(nth.get() + 1);
        let mut text = String::new();
        // A string takes all that is written.
        let _ = write!(
            text,
            "POST /api/v10/interactions/{}/aW50ZXJhY3Rpb246dG9rZW4{}/callback HTTP/1.1\r\nhost: tidegate.test\r\n\
             content-type: application/json\r\ncontent-length: 10\r\n\r\n{{\"type\":5}}",
            1_100_000_000_000_000_000_u64 + nth.get(),
            nth.get()
        );
        request.clear();
        request.extend_from_slice(text.as_bytes());
    };
    open(address, 16, PAUSE, SPAN, next).await
}

/// A call to a channel of its own, again and again: most of its time it is held.
async fn always(address: SocketAddr, channel: u64) -> Result<()> {
    let (mut client, request) = (Client::connect(address).await?, send(channel));
    loop {
        client.call(request.as_bytes()).await?;
    }
}

fn send(channel: u64) -> String {
    format!(
        "POST /api/v10/channels/{}/messages HTTP/1.1\r\nhost: tidegate.test\r\nauthorization: {TOKEN}\r\n\
         x-tidegate-max-hold: 60s\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{{\"content\":\"Up\"}}",
        900_000_000_000_000_000 + channel
    )
}
