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
    let (wall, present) = both();
    present - wall.saturating_sub(realtime).min(present)
}

/// Both clocks at the same moment: a thread that loses its CPU between two reads would take the time without it for a difference of the
/// clocks. The closest of a few attempts counts, the first if it took no longer than such reads take.
fn both() -> (Nanos, Nanos) {
    const ATTEMPTS: usize = 5;
    const AT_ONCE: Nanos = 1_000;
    let mut closest = (Nanos::MAX, (0, 0));
    for _ in 0..ATTEMPTS {
        let before = now();
        let wall = read(ClockId::Realtime);
        let apart = now() - before;
        if apart < closest.0 {
            closest = (apart, (wall, before + apart / 2));
        }
        if apart <= AT_ONCE {
            break;
        }
    }
    closest.1
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu() -> Nanos {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
