use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadline_run::Clock;

/// Stands still until somebody waits or drives load.
#[derive(Clone)]
pub struct MadeUpClock {
    origin: Instant,
    passed: Arc<Mutex<Duration>>,
}

impl Default for MadeUpClock {
    fn default() -> Self {
        MadeUpClock { origin: Instant::now(), passed: Arc::default() }
    }
}

impl MadeUpClock {
    pub fn elapsed(&self) -> Duration {
        *self.passed.lock().unwrap()
    }

    pub fn advance(&self, by: Duration) {
        *self.passed.lock().unwrap() += by;
    }
}

impl Clock for MadeUpClock {
    fn now(&self) -> Instant {
        self.origin + self.elapsed()
    }

    fn sleep(&self, pause: Duration) {
        self.advance(pause);
    }
}
