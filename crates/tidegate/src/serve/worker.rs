//! One thread that serves: its connections, its upstream pool, its bots' timers.

use std::sync::Arc;

use tidegate_proxy::{Proxy, Upstream};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::accept::Arrived;

/// Serves what it is given, for as long as the process lives: what goes on without its client, and the timers of bots,
/// are on this thread too.
pub(super) fn thread(proxy: &Arc<Proxy>, upstream: &Upstream, mut arrivals: UnboundedReceiver<Arrived>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "a thread cannot serve"),
    };
    runtime.block_on(async {
        tokio::spawn(upstream.clone().reap());
        while let Some(Arrived { stream, client, place }) = arrivals.recv().await {
            let Ok(stream) = TcpStream::from_std(stream) else { continue };
            tokio::spawn(Arc::clone(proxy).serve(upstream.clone(), stream, client, place));
        }
        std::future::pending::<()>().await;
    });
}
