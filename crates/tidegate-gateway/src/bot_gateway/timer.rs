//! One bot's timer.

use std::sync::Arc;

use tidegate_tokio::{Clock, Looked, Timed};

use super::Fleet;

impl Timed for Fleet {
    fn clock(&self) -> Clock {
        self.depot.clock
    }

    fn look(self: Arc<Self>) -> Looked {
        let acted = self.lock().due() <= self.depot.clock.now();
        if acted {
            self.turn(|turn| {
                turn.tick();
            });
        }
        let mut state = self.lock();
        state.armed = state.due();
        Looked { next: state.armed, acted }
    }
}
