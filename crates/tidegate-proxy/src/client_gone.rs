//! Noticing that a client left, without losing the call that it left behind.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A call whose client left goes on at most this long.
const LONGEST_ALONE: Duration = Duration::from_secs(300);

thread_local! {
    /// Whether the call that is polled on this thread right now has lost its client.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The future of a call. The server drops it when the client leaves; then the call goes on by itself, and
/// [`gone`] is ready within it.
pub(crate) struct Attended<T: Send + 'static>(Option<Boxed<T>>);

impl<T: Send + 'static> Attended<T> {
    pub(crate) fn new(call: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(call)))
    }
}

impl<T: Send + 'static> Future for Attended<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(call) = &mut self.0 else { return Poll::Pending };
        let done = call.as_mut().poll(cx);
        if done.is_ready() {
            self.0 = None;
        }
        done
    }
}

impl<T: Send + 'static> Drop for Attended<T> {
    fn drop(&mut self) {
        if let (Some(call), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(tokio::time::timeout(LONGEST_ALONE, Unattended(call)));
        }
    }
}

struct Unattended<T>(Boxed<T>);

impl<T> Future for Unattended<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let before = ALONE.replace(true);
        let done = self.0.as_mut().poll(cx).map(drop);
        ALONE.set(before);
        done
    }
}

/// Whether the client of the call that asks has left.
pub(crate) fn is_gone() -> bool {
    ALONE.get()
}

/// Ready once the client of the call that awaits this has left.
pub fn gone() -> impl Future<Output = ()> {
    // The call is polled afresh as soon as it is alone, so no waker is needed.
    poll_fn(|_| if is_gone() { Poll::Ready(()) } else { Poll::Pending })
}
