//! From the model's outputs to the tasks that write them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};

use crate::discord::Model;
use crate::discord::gateway::{ConnId, Output};
use crate::server::Shared;

/// Messages that wait to be written on one connection, and their bytes; whoever reads so slowly is cut.
const WAITING_MAX: usize = 262_144;
const WAITING_BYTES_MAX: usize = 128 << 20;

/// The connections that stand.
#[derive(Default)]
pub(crate) struct Links {
    links: Mutex<HashMap<ConnId, Sender>>,
}

struct Sender {
    outputs: mpsc::Sender<Output>,
    bytes: Arc<AtomicUsize>,
    dead: Arc<Notify>,
}

/// A task's end of a link.
pub(crate) struct Link {
    pub(crate) outputs: mpsc::Receiver<Output>,
    /// Bytes that wait in it.
    pub(crate) bytes: Arc<AtomicUsize>,
    /// The connection is to end at once, even in the middle of a write.
    pub(crate) dead: Arc<Notify>,
}

impl Links {
    fn lock(&self) -> MutexGuard<'_, HashMap<ConnId, Sender>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn join(&self, conn: ConnId) -> Link {
        let (sender, outputs) = mpsc::channel(WAITING_MAX);
        let (bytes, dead) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        self.lock().insert(conn, Sender { outputs: sender, bytes: Arc::clone(&bytes), dead: Arc::clone(&dead) });
        Link { outputs, bytes, dead }
    }

    pub(crate) fn leave(&self, conn: ConnId) {
        self.lock().remove(&conn);
    }

    /// Hands an output on; false if the connection cannot take it.
    fn hand(&self, output: Output) -> bool {
        let conn = output.conn();
        let last = matches!(output, Output::Close { .. } | Output::Cut { .. });
        let mut links = self.lock();
        let Some(link) = links.get(&conn) else { return true };
        let before = match &output {
            Output::Write { frame, .. } => link.bytes.fetch_add(frame.text.len(), Ordering::Relaxed),
            _ => 0,
        };
        let sent = before < WAITING_BYTES_MAX && link.outputs.try_send(output).is_ok();
        if !sent {
            link.dead.notify_one();
        }
        if last || !sent {
            links.remove(&conn);
        }
        sent
    }
}

/// Longest sleep of the pump: real time, in case of a clock that jumps.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// Lets time pass in the model and hands its outputs on, until the server stops.
pub(crate) async fn pump(shared: Arc<Shared<Model>>, links: Arc<Links>, mut stopped: watch::Receiver<bool>) {
    loop {
        // Listening begins before the model is looked at: nothing that comes between is missed.
        let mut news = std::pin::pin!(shared.news.notified());
        news.as_mut().enable();
        let now = shared.now();
        let next_at = drain(&shared, &links, now);
        let sleep = next_at.map_or(SLEEP_MAX, |at| shared.real(at.saturating_sub(now)).min(SLEEP_MAX));
        tokio::select! {
            () = news => {}
            () = tokio::time::sleep(sleep) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    for (_, link) in links.lock().drain() {
        link.dead.notify_one();
    }
}

fn drain(shared: &Shared<Model>, links: &Links, now: Duration) -> Option<Duration> {
    let mut model = shared.model();
    model.gateway.tick(now);
    while let Some(output) = model.gateway.poll() {
        let conn = output.conn();
        if !links.hand(output) {
            model.gateway.cut(conn, "reads too slowly");
        }
    }
    model.gateway.next_at()
}
