//! `tidegate sandbox`: the fake platforms on real ports.

use std::net::SocketAddr;

use anyhow::Context as _;
use tidegate_sandbox::telegram::{Options, serve};

/// Serves a fake Telegram until it is told to stop.
pub(crate) fn run(telegram: SocketAddr, scale: f64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let options = Options { scale, ..Options::default() };
        let handle = serve(telegram, options).await.with_context(|| format!("cannot listen on {telegram}"))?;
        println!("a fake Telegram listens on {}", handle.url());
        crate::serve::stopped().await?;
        handle.stop();
        Ok(())
    })
}
