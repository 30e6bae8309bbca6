use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadline_run::Clock;

/// A clock that stands still until the run loop waits or drives load.
#[derive(Clone)]
pub struct FakeClock {
    origin: Instant,
    passed: Arc<Mutex<Duration>>,
}

impl Default for FakeClock {
    fn default() -> Self {
        FakeClock { origin: Instant::now(), passed: Arc::default() }
    }
}

impl FakeClock {
    pub fn elapsed(&self) -> Duration {
        *self.passed.lock().unwrap()
    }

    pub fn advance(&self, by: Duration) {
        *self.passed.lock().unwrap() += by;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        self.origin + self.elapsed()
    }

    fn sleep(&self, pause: Duration) {
        self.advance(pause);
    }
}
