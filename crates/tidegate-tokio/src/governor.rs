//! The governor under a driver.

use tidegate_core::governor::{Answer, Governor, Input, Output, Ticket};

use crate::driver::{Effect, TicketGate};

impl TicketGate for Governor {
    fn concerns(output: &Output) -> Option<(Ticket, Effect)> {
        match output {
            Output::Send { ticket, .. } => Some((*ticket, Effect::Released)),
            Output::Superseded { ticket, by } => Some((*ticket, Effect::Joins(*by))),
            Output::Drop { ticket, .. } | Output::Refuse { ticket, .. } | Output::Failed { ticket } => {
                Some((*ticket, Effect::Over))
            }
            Output::Peers(_) | Output::Counters(_) | Output::Note(_) => None,
        }
    }

    fn cancel(ticket: Ticket) -> Input {
        Input::Cancel { ticket }
    }

    fn lost(ticket: Ticket) -> Input {
        Input::Done { ticket, result: Answer::Permanent }
    }
}
