//! The program's parts, and what joins them: neither the proxy nor the Gateway knows the other.

mod discovery;
mod gateway_side;
mod identify;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use tidegate_gateway::Fleets;
use tidegate_proxy::Proxy;
use tidegate_tokio::Clock;

use self::gateway_side::Joined;
use crate::config::Config;

/// Everything that serves.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) started: Instant,
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) gateway: Arc<Fleets>,
}

impl App {
    pub(crate) fn new(config: Config, tls: &rustls::ClientConfig) -> anyhow::Result<Self> {
        let clock = Clock::new(config.time_scale);
        let gateway = Arc::new(Fleets::new(config.gateway.clone(), clock, tls.clone()));
        let joined = Arc::new(Joined { gateway: Arc::clone(&gateway) });
        let proxy =
            Proxy::new(config.proxy.clone(), clock, joined).context("telegram.api or discord.api has no host")?;
        Ok(Self { config, started: Instant::now(), proxy: Arc::new(proxy), gateway })
    }
}
