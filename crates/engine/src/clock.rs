//! The one clock of the engine: CLOCK_MONOTONIC in nanoseconds, read through the vDSO.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment or a span, ns of CLOCK_MONOTONIC.
pub type Nanos = u64;

/// The present moment.
pub fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A duration in ns; what does not fit 64 bits (584 years) is cut.
pub fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
