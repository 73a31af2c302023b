//! What is counted of a write.

/// What is counted of a write. All but the first four are ends; the last two are levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// Taken in.
    Accepted,
    /// Released by its tokens, at once or after waiting.
    Admitted,
    /// Released without a token as its row allows.
    Passed,
    /// Released without a token past its hold limit.
    FailedOpen,
    /// The platform took it.
    Delivered,
    /// The platform never will, or was tried often enough.
    Failed,
    /// A newer one took its place.
    Superseded,
    /// Dropped as its row allows.
    Dropped,
    /// The client was told to come back.
    Refused,
    /// Its client left.
    Cancelled,
    /// Waiting now.
    Held,
    /// Released and not answered yet.
    InFlight,
}

impl Counted {
    /// All of them, in the order of their names here.
    pub const ALL: [Self; 12] = [
        Self::Accepted,
        Self::Admitted,
        Self::Passed,
        Self::FailedOpen,
        Self::Delivered,
        Self::Failed,
        Self::Superseded,
        Self::Dropped,
        Self::Refused,
        Self::Cancelled,
        Self::Held,
        Self::InFlight,
    ];

    /// The name in metrics and replays.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Admitted => "admitted",
            Self::Passed => "passed",
            Self::FailedOpen => "failed_open",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::InFlight => "in_flight",
        }
    }
}
