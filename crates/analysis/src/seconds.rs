//! The records of intervals gathered into seconds, whatever the engine's interval is.

use std::time::Duration;

use loadline_model::{Record, Second};

/// Length of all but the last.
const SECOND: Duration = Duration::from_secs(1);

/// Gathers intervals.
pub struct Seconds {
    interval: Duration,
    whole: Duration,
    began: Duration,
    gathered: Duration,
    record: Record,
}

impl Seconds {
    /// For a load of length `whole` whose records come every `interval`, which is a part of a second.
    pub fn new(interval: Duration, whole: Duration) -> Seconds {
        let (began, gathered) = (Duration::ZERO, Duration::ZERO);
        Seconds { interval, whole, began, gathered, record: Record::empty() }
    }

    /// Takes the record of an interval; calls `done` with the second that ends with it, if one does.
    pub fn take<E>(
        &mut self,
        record: &Record,
        done: impl FnOnce(&Second<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.record.append(record);
        self.gathered += self.interval;
        // The last second ends with the load, which also waits for what is still under way.
        if self.gathered < SECOND || self.began + self.gathered >= self.whole {
            return Ok(());
        }
        self.emit(done)
    }

    /// Ends the last second; `stopped_after` is the length of a load that was stopped.
    pub fn finish<E>(
        &mut self,
        stopped_after: Duration,
        done: impl FnOnce(&Second<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.gathered = stopped_after.saturating_sub(self.began);
        if self.gathered.is_zero() {
            return Ok(());
        }
        self.emit(done)
    }

    fn emit<E>(&mut self, done: impl FnOnce(&Second<'_>) -> Result<(), E>) -> Result<(), E> {
        let result = done(&Second { began: self.began, length: self.gathered, record: &self.record });
        self.began += self.gathered;
        self.gathered = Duration::ZERO;
        self.record.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begin and length in ms, and what was due, of the seconds that intervals of one request each are gathered into.
    fn seconds(interval_ms: u64, whole_ms: u64) -> Vec<(u128, u128, u64)> {
        let interval = Duration::from_millis(interval_ms);
        let whole = Duration::from_millis(whole_ms);
        let mut seconds = Seconds::new(interval, whole);
        let mut seen = Vec::new();
        let mut note = |second: &Second<'_>| {
            seen.push((second.began.as_millis(), second.length.as_millis(), second.record.due));
            Ok::<(), ()>(())
        };
        let one = Record { due: 1, ..Record::empty() };
        for _ in 0..whole_ms.div_ceil(interval_ms) {
            seconds.take(&one, &mut note).unwrap();
        }
        seconds.finish(whole, &mut note).unwrap();
        seen
    }

    #[test]
    fn intervals_are_gathered_into_seconds_and_the_rest() {
        assert_eq!(seconds(1000, 3000), [(0, 1000, 1), (1000, 1000, 1), (2000, 1000, 1)]);
        assert_eq!(seconds(100, 2000), [(0, 1000, 10), (1000, 1000, 10)]);
        assert_eq!(seconds(100, 1250), [(0, 1000, 10), (1000, 250, 3)]);
        assert_eq!(seconds(1000, 400), [(0, 400, 1)]);
    }
}
