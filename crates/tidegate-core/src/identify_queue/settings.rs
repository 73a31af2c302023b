//! The numbers of an identify queue.

use crate::time::Span;

/// How IDENTIFYs are spaced and how many there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Between two IDENTIFYs of one bucket: 5 s (<https://discord.com/developers/docs/events/gateway#rate-limiting>).
    pub spacing: Span,
    /// Added to the spacing, so that a network's jitter does not bring two IDENTIFYs closer together than that.
    pub spacing_margin: Span,
    /// After so long a grant lapses: a lost message costs one bucket that much.
    pub hold: Span,
    /// The same for a grant that was given over HTTP.
    pub http_hold: Span,
    /// A note is made of every grant that leaves so few session starts of the day, or fewer.
    pub low_water: u64,
    /// Session starts in any rolling 24 h; 0 for half of `total`, more where the shards need it (see
    /// [`Settings::rolling_limit`]).
    pub rolling_limit: u64,
    /// Session starts a day, `session_start_limit.total`: 1,000 for most bots. All of them gone, Discord resets the token
    /// (<https://discord.com/developers/docs/events/gateway#identifying>).
    pub total: u64,
    /// How many shards the bot has.
    pub shards: u64,
    /// Shards that may wait.
    pub waiting_bound: usize,
}

/// The share of the rolling limit that is kept for shards that start seldom.
const KEPT_SHARE: u64 = 5;
/// A shard with so many starts in 24 h starts often.
pub(super) const OFTEN: u64 = 3;

impl Settings {
    /// Session starts in any rolling 24 h: max(total / 2, min(1.25 × shards, 0.95 × total)), at least one. Half of what
    /// resets a token for most bots, and never so low that a large one cannot start.
    pub fn rolling_limit(&self) -> u64 {
        if self.rolling_limit > 0 {
            return self.rolling_limit;
        }
        let (total, shards) = (u128::from(self.total), u128::from(self.shards));
        let limit = (total / 2).max((shards * 5 / 4).min(total * 95 / 100)).max(1);
        u64::try_from(limit).unwrap_or(u64::MAX)
    }

    /// How long a grant lives that is not given back.
    pub(crate) fn hold_of(&self, http: bool) -> Span {
        let hold = if http { self.http_hold } else { self.hold };
        hold.max(Span::from_micros(1))
    }

    /// Once so many starts are counted, shards that start often are denied.
    pub(super) fn seldom_only_from(&self) -> u64 {
        let limit = self.rolling_limit();
        if self.shards > 1 { limit - limit / KEPT_SHARE } else { limit }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            spacing: Span::from_secs(5),
            spacing_margin: Span::ZERO,
            hold: Span::from_secs(30),
            http_hold: Span::from_secs(10),
            low_water: 50,
            rolling_limit: 0,
            total: 1_000,
            shards: 1,
            // Several times what the largest bots have.
            waiting_bound: 65_536,
        }
    }
}
