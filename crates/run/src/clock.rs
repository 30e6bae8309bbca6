//! The time by which a run waits and ends. Slices are timed by the load engine, never by this.

use std::time::{Duration, Instant};

/// A clock that the run loop can wait by.
pub trait Clock {
    /// The current time.
    fn now(&self) -> Instant;

    /// Returns after `pause`.
    fn sleep(&self, pause: Duration);
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, pause: Duration) {
        std::thread::sleep(pause);
    }
}
