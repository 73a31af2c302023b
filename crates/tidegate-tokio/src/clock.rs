//! Platform time: real time since the start, divided by `time_scale`.

use std::time::Duration;

use tidegate_core::{Span, Time};

const WHOLE: u64 = 1_000_000;

/// A monotonic clock that tells platform time.
///
/// With a scale of 0.1 platform time runs ten times faster than real time, so that every period shrinks to a tenth. Steps
/// of the wall clock do not touch it, and time spent suspended counts where the system can tell (Linux), so that a
/// cooldown ends when real time has passed.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Duration,
    /// Real microseconds per platform second.
    scale: u64,
}

impl Clock {
    /// A clock that stands at zero now. `time_scale` is held to 0.000001 to 1000.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to a range that fits")]
    pub fn new(time_scale: f64) -> Self {
        let scale = (time_scale.clamp(0.000_001, 1_000.0) * 1_000_000.0).round() as u64;
        Self { start: monotonic(), scale: scale.max(1) }
    }

    /// The platform's time now.
    pub fn now(&self) -> Time {
        let real = micros(monotonic().saturating_sub(self.start));
        Time::from_micros(scaled(real, WHOLE, self.scale))
    }

    /// The real time that a span of platform time takes.
    pub fn real(&self, span: Span) -> Duration {
        Duration::from_micros(scaled(span.as_micros(), self.scale, WHOLE))
    }

    /// The platform time that passes in a length of real time.
    pub fn platform(&self, real: Duration) -> Span {
        Span::from_micros(scaled(micros(real), WHOLE, self.scale))
    }

    /// The real time left until a platform moment, rounded up.
    pub fn until(&self, moment: Time) -> Duration {
        self.real(moment.since(self.now())) + Duration::from_micros(1)
    }
}

fn scaled(value: u64, times: u64, parts: u64) -> u64 {
    if times == parts {
        return value;
    }
    u64::try_from(u128::from(value) * u128::from(times) / u128::from(parts)).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000).saturating_add(u64::from(duration.subsec_micros()))
}

/// Time since the machine started, suspended time included: `Instant` stands still there.
#[cfg(target_os = "linux")]
fn monotonic() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn monotonic() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
