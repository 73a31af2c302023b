//! What a large message leaves behind.

use tokio_websockets::Message;

/// In bytes. A connection's buffer is smaller at rest.
const LARGE: usize = 64 << 10;

/// The last message, where it was a large one.
///
/// The socket reads a message into one piece of memory, and would read all that follows into the same piece for as long as
/// it lives, were it free again. Held until the next message is there, it is not, and a small one takes its place.
#[derive(Debug, Default)]
pub(super) struct Large(Option<Message>);

impl Large {
    pub(super) fn came(&mut self, message: &Message) {
        self.0 = (message.as_payload().len() > LARGE).then(|| message.clone());
    }
}

#[cfg(test)]
mod tests;
