//! What a machine does to measurements, found out by asking it: how long its CPUs pause, how late sleeping threads run again, what reading
//! the clock costs, what ran meanwhile. Each module measures one thing, for as long as it is told, and leaves nothing behind.
//!
//! It starts threads of its own alone, and needs no rights. Whatever cannot be measured is absent.

mod bystanders;
mod clock;
mod pauses;
mod pinned;
mod wake_ups;

pub use bystanders::{Bystanders, bystanders, stolen_share};
pub use clock::clock_reading;
pub use pauses::{PausesSeen, pauses};
pub use wake_ups::wake_ups;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How soon an interrupt is noticed.
const SOON: Duration = Duration::from_millis(50);

/// Sleeps for so long, or until it is told to stop.
fn sleep_unless_stopped(duration: Duration, stop: &AtomicBool) {
    let end = Instant::now() + duration;
    while !stop.load(Ordering::Relaxed) {
        match end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            Some(left) => std::thread::sleep(left.min(SOON)),
            None => break,
        }
    }
}

/// CLOCK_MONOTONIC, ns.
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
