//! `tidegate sandbox`: the fake platforms on real ports.

use std::net::SocketAddr;

use anyhow::Context as _;
use tidegate_sandbox::{discord, telegram};

/// Serves a fake Telegram and a fake Discord until it is told to stop.
pub(crate) fn run(telegram: SocketAddr, discord: SocketAddr, scale: f64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let busy = |address| move || format!("cannot listen on {address}");
        let options = telegram::Options { scale, ..telegram::Options::default() };
        let fake_telegram = telegram::serve(telegram, options).await.with_context(busy(telegram))?;
        let options = discord::Options { scale, ..discord::Options::default() };
        let fake_discord = discord::serve(discord, options).await.with_context(busy(discord))?;
        println!("a fake Telegram listens on {}", fake_telegram.url());
        println!("a fake Discord listens on {}", fake_discord.url());
        crate::serve::stopped().await?;
        fake_telegram.stop();
        fake_discord.stop();
        Ok(())
    })
}
