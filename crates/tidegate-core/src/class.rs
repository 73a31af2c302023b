//! How much a write matters.

/// How much a write matters, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Somebody waits for it with a finger on a button.
    Interactive,
    /// The last state of a message.
    Final,
    /// New content. Ranks with [`Class::Final`].
    Send,
    /// A status line. This and all below are chrome: the next one restates everything.
    Status,
    /// A step on the way.
    Intermediary,
    /// Text that is still growing.
    Preview,
    /// A ticking display.
    Clock,
}

impl Class {
    /// All classes, the most important first.
    pub const ALL: [Self; 7] =
        [Self::Interactive, Self::Final, Self::Send, Self::Status, Self::Intermediary, Self::Preview, Self::Clock];

    /// Whether the next one restates everything.
    pub const fn is_chrome(self) -> bool {
        matches!(self, Self::Status | Self::Intermediary | Self::Preview | Self::Clock)
    }

    /// Place in the order of importance, 0 the highest. Final and send share one.
    pub const fn rank(self) -> u8 {
        match self {
            Self::Interactive => 0,
            Self::Final | Self::Send => 1,
            Self::Status => 2,
            Self::Intermediary => 3,
            Self::Preview => 4,
            Self::Clock => 5,
        }
    }

    /// The name used in headers, policies and counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Final => "final",
            Self::Send => "send",
            Self::Status => "status",
            Self::Intermediary => "intermediary",
            Self::Preview => "preview",
            Self::Clock => "clock",
        }
    }

    /// The class of that name; `chrome` is another word for `status`.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "chrome" {
            return Some(Self::Status);
        }
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}
