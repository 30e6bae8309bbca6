//! Sees the pauses of a load thread by the clock that it reads anyway: a gap between two readings with no more than known work between them,
//! or a timer that woke it late. Waiting for a response is neither, so that no service can cause a pause.

use std::time::Duration;

use loadline_model::pauses::{Pauses, SHORTEST_PAUSE};

use crate::clock::{Nanos, nanos};

/// An idle load thread looks at the clock this often, so that pauses which no request met are seen as well: whether a pause is seen must not
/// depend on how long responses take.
const WATCH: Duration = Duration::from_millis(1);
/// The same at rates so low that the machine is to be left idle.
const WATCH_SLOW: Duration = Duration::from_millis(10);
/// Below this rate per second.
const SLOW_RATE: f64 = 100.0;
/// An event with its read, a further read of at most a buffer's length, and a write may each take this much of a gap: a long response is no
/// pause of the machine.
const PER_EVENT: Duration = Duration::from_micros(50);

/// The pauses of one load thread.
pub struct PauseWatch {
    /// The last reading of the clock since which the thread has not slept.
    last: Nanos,
    every: Nanos,
    /// What the work since then may have taken.
    allowed: Nanos,
    /// Pauses that begin later do not count.
    until: Nanos,
    pauses: Pauses,
}

impl PauseWatch {
    pub fn new() -> PauseWatch {
        PauseWatch { last: 0, every: nanos(WATCH), allowed: 0, until: Nanos::MAX, pauses: Pauses::default() }
    }

    /// Begins anew at the present time, for a load of this rate per second; without one it is a closed loop. Pauses count that begin before
    /// `until`: how many are seen must not depend on how long the last responses take.
    pub fn begin(&mut self, present: Nanos, until: Nanos, rate: Option<f64>) {
        self.every = nanos(if rate.is_some_and(|rate| rate < SLOW_RATE) { WATCH_SLOW } else { WATCH });
        (self.last, self.allowed, self.until) = (present, 0, until);
        self.pauses = Pauses::default();
    }

    /// The longest time to sleep.
    pub fn every(&self) -> Nanos {
        self.every
    }

    /// The thread handled so many events, further reads or requests to send.
    #[inline]
    pub fn worked(&mut self, events: usize) {
        self.allowed += nanos(PER_EVENT) * events as Nanos;
    }

    /// A reading of the clock by the thread, which has not slept since the last one.
    #[inline]
    pub fn awake(&mut self, present: Nanos) {
        let gap = present.saturating_sub(self.last);
        if gap >= nanos(SHORTEST_PAUSE) && self.last < self.until {
            self.pauses.note(gap.saturating_sub(self.allowed));
        }
        (self.last, self.allowed) = (present, 0);
    }

    /// The first reading after a sleep that was to end at `planned` at the latest.
    #[inline]
    pub fn woken(&mut self, planned: Nanos, present: Nanos) {
        if planned < self.until {
            self.pauses.note(present.saturating_sub(planned));
        }
        (self.last, self.allowed) = (present, 0);
    }

    /// The pauses since this was last asked.
    pub fn take(&mut self) -> Pauses {
        std::mem::take(&mut self.pauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn watch() -> PauseWatch {
        let mut watch = PauseWatch::new();
        watch.begin(100 * MS, 200 * MS, None);
        watch
    }

    #[test]
    fn a_gap_between_two_readings_is_a_pause() {
        let mut watch = watch();
        watch.awake(100 * MS + 199_999);
        assert_eq!(watch.take(), Pauses::default());
        watch.awake(105 * MS);
        let pauses = watch.take();
        assert_eq!((pauses.over_1ms.count, pauses.over_1ms.total_ns), (1, 5 * MS - 199_999));
        assert_eq!(watch.take(), Pauses::default());
    }

    #[test]
    fn work_is_no_pause() {
        let mut watch = watch();
        watch.worked(32);
        watch.awake(101 * MS);
        assert_eq!(watch.take(), Pauses::default(), "32 events may take 1.6 ms");
        watch.worked(1);
        watch.awake(104 * MS);
        assert_eq!(watch.take().over_1ms.total_ns, 3 * MS - 50_000);
    }

    #[test]
    fn sleeping_is_no_pause_and_waking_late_is_one() {
        let mut watch = watch();
        watch.woken(140 * MS, 130 * MS);
        watch.woken(150 * MS, 150 * MS + 40_000);
        assert_eq!(watch.take(), Pauses::default());
        watch.woken(160 * MS, 172 * MS);
        assert_eq!(watch.take().over_10ms.total_ns, 12 * MS);
    }

    #[test]
    fn a_pause_counts_if_it_begins_before_the_end() {
        let mut watch = watch();
        watch.woken(199 * MS, 204 * MS);
        assert_eq!(watch.take().over_1ms.total_ns, 5 * MS);
        watch.awake(199 * MS);
        watch.awake(203 * MS);
        assert_eq!(watch.take().over_1ms.total_ns, 4 * MS, "of a gap that begins before the end, all counts");
        watch.awake(209 * MS);
        watch.woken(210 * MS, 215 * MS);
        assert_eq!(watch.take(), Pauses::default());
    }

    #[test]
    fn a_slow_load_is_watched_less_often() {
        let mut watch = watch();
        assert_eq!(watch.every(), MS);
        watch.begin(0, MS, Some(100.0 / 60.0));
        assert_eq!(watch.every(), 10 * MS);
        watch.begin(0, MS, Some(2_000.0));
        assert_eq!(watch.every(), MS);
    }
}
