//! What is always true of a shard.

use super::connection::Stage;
use super::line::Line;
use super::settings::GRACE_MAX;
use super::{Run, Shard};

impl Shard {
    /// Panics where the shard contradicts itself.
    pub(super) fn check(&self) {
        let connection = self.connection.as_ref();
        if let Some(connection) = connection {
            assert_eq!(connection.generation, self.generation, "only the last dialled connection lives");
            assert_eq!(self.run, Run::On, "nothing lives unless it is on");
            match connection.stage {
                Stage::Identifying(_) => assert!(self.session.is_none(), "IDENTIFY and RESUME at once"),
                Stage::Resuming(_) | Stage::Live(_) => assert!(self.session.is_some(), "no session to speak of"),
                Stage::Dialing | Stage::Open | Stage::Greeted => {}
            }
        }
        let identifying = connection.is_some_and(|connection| matches!(connection.stage, Stage::Identifying(_)));
        match self.line {
            Line::Held { written, .. } => {
                assert_eq!(written, identifying, "a used grant belongs to the IDENTIFY that awaits its answer");
                assert!(written || self.awaits_grant(), "a grant that nobody wants is given back at once");
            }
            Line::Out => assert!(!identifying && !self.awaits_grant(), "every IDENTIFY has its grant"),
            Line::In { .. } => assert!(!identifying, "every IDENTIFY has its grant"),
        }
        if let Some(at) = self.plan().map(|plan| plan.at) {
            assert!(at > self.now, "what is due is done");
        }
        if self.fresh {
            assert_eq!(self.run, Run::On, "nobody's IDENTIFY stands once it is off");
            assert!(self.session.is_none() || connection.is_some(), "what is replaced is there");
        }
        assert!(!self.newer || identifying, "a newer IDENTIFY waits for the older's answer");
        assert!(self.rate_limits.len() <= GRACE_MAX as usize, "4008 are counted up to the grace");
        assert!(self.instability.is_bounded(), "ends are counted up to what is told");
        assert!(self.failed_resumes == 0 || self.session.is_some(), "resumes fail of a session");
    }
}
