//! The clocks of the engine, in nanoseconds and read through the vDSO: CLOCK_MONOTONIC for everything, CLOCK_REALTIME only because the
//! kernel stamps packets by it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment or a span, ns of CLOCK_MONOTONIC.
pub type Nanos = u64;

/// The present moment.
pub fn now() -> Nanos {
    read(ClockId::Monotonic)
}

/// When something happened that the kernel stamped with `realtime` (ns since the epoch) a moment ago.
///
/// The difference of the two clocks is taken anew each time: it moves whenever the wall clock is set or slewed.
pub fn from_realtime(realtime: Nanos) -> Nanos {
    let (wall, present) = (read(ClockId::Realtime), now());
    present - wall.saturating_sub(realtime).min(present)
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu() -> Nanos {
    read(ClockId::ThreadCPUTime)
}

/// A duration in ns; what does not fit 64 bits (584 years) is cut.
pub fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
