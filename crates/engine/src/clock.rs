//! The clocks of the engine, in nanoseconds and read through the vDSO: CLOCK_MONOTONIC for everything, CLOCK_REALTIME only because the
//! kernel stamps packets by it.

use rustix::time::{ClockId, clock_gettime};

pub use loadline_model::load::{Nanos, nanos};

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

fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
