//! `tidegate sandbox`: the fake platforms on real ports.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::Context as _;
use tidegate_sandbox::{discord, telegram};

/// Where each stands when neither is named.
const TELEGRAM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9000);
const DISCORD: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9001);

/// Serves the fake platforms that are named (both, where none is) until it is told to stop.
pub(crate) fn run(telegram: Option<SocketAddr>, discord: Option<SocketAddr>, scale: f64) -> anyhow::Result<()> {
    let (telegram, discord) = match (telegram, discord) {
        (None, None) => (Some(TELEGRAM), Some(DISCORD)),
        named => named,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let busy = |address| move || format!("cannot listen on {address}");
        let (mut fake_telegram, mut fake_discord) = (None, None);
        if let Some(address) = telegram {
            let options = telegram::Options { scale, ..telegram::Options::default() };
            let fake = telegram::serve(address, options).await.with_context(busy(address))?;
            println!("a fake Telegram listens on {}", fake.url());
            fake_telegram = Some(fake);
        }
        if let Some(address) = discord {
            let options = discord::Options { scale, ..discord::Options::default() };
            let fake = discord::serve(address, options).await.with_context(busy(address))?;
            println!("a fake Discord listens on {}", fake.url());
            fake_discord = Some(fake);
        }
        crate::signals::stopped().await?;
        if let Some(fake) = fake_telegram {
            fake.stop();
        }
        if let Some(fake) = fake_discord {
            fake.stop();
        }
        Ok(())
    })
}
