//! The system's signals.

use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn stopped() -> anyhow::Result<()> {
    let mut stop = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done?,
        _ = stop.recv() => {}
    }
    Ok(())
}

/// Waits for the signal to stop; calls `reload` on SIGHUP.
pub(crate) async fn stopped_or(reload: impl Fn()) -> anyhow::Result<()> {
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut stopped = std::pin::pin!(stopped());
    loop {
        tokio::select! {
            done = &mut stopped => return done,
            _ = hang_up.recv() => reload(),
        }
    }
}
