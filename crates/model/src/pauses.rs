//! Pauses: times for which a load thread was due to run and its CPU did not run it, counted by length. A load thread sees them by its clock:
//! while it polls without sleeping two readings are far apart, or a timer wakes it late. No response has a part in that.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Nanos, nanos};
use crate::metrics::{MetricDeclaration, Unit};
use crate::observations::Observations;

/// A gap from this length on is a pause. Undisturbed gaps are far below: an idle virtual CPU wakes 24 to 44 µs late, and a system call that
/// sends or receives takes some tens of µs.
pub const SHORTEST_PAUSE: Duration = Duration::from_micros(200);

/// The least lengths that pauses are counted by, and the metrics of their number and of their total.
const LENGTHS: [(Duration, &str, &str); 3] = [
    (SHORTEST_PAUSE, "load.pauses.over_200us", "load.paused.over_200us"),
    (Duration::from_millis(1), "load.pauses.over_1ms", "load.paused.over_1ms"),
    (Duration::from_millis(10), "load.pauses.over_10ms", "load.paused.over_10ms"),
];

/// The pauses of a slice: each is part of every figure whose least length it reaches. Of several load threads it is the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// Of 0.2 ms and more.
    pub over_200us: PauseSum,
    /// Of 1 ms and more.
    pub over_1ms: PauseSum,
    /// Of 10 ms and more.
    pub over_10ms: PauseSum,
}

/// How many pauses there were, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PauseSum {
    /// How many.
    pub count: u64,
    /// All together, ns.
    pub total_ns: Nanos,
}

impl Pauses {
    /// Counts a gap; one that is too short to be a pause is ignored.
    pub fn note(&mut self, gap: Nanos) {
        for ((least, ..), sum) in LENGTHS.iter().zip(self.sums_mut()) {
            if gap >= nanos(*least) {
                sum.count += 1;
                sum.total_ns += gap;
            }
        }
    }

    /// Adds those of another load thread, or of a later interval.
    pub fn add(&mut self, other: &Pauses) {
        for (mine, theirs) in self.sums_mut().into_iter().zip(other.sums()) {
            mine.count += theirs.count;
            mine.total_ns += theirs.total_ns;
        }
    }

    /// The metrics that [`Pauses::enter`] gives.
    pub fn metrics() -> Vec<MetricDeclaration> {
        let declare = |(_, number, total): (Duration, &'static str, &'static str)| {
            [
                MetricDeclaration::counter(number, Unit::Count),
                MetricDeclaration::counter(total, Unit::Nanoseconds),
            ]
            .map(MetricDeclaration::of_the_measurement)
        };
        LENGTHS.into_iter().flat_map(declare).collect()
    }

    /// Enters them among what was seen of a slice.
    pub fn enter(&self, seen: &mut Observations) {
        for ((_, number, total), sum) in LENGTHS.into_iter().zip(self.sums()) {
            seen.set(number, sum.count);
            seen.set(total, sum.total_ns);
        }
    }

    /// The pauses of a slice, as [`Pauses::enter`] left them; `None` in a run from before they were counted.
    pub fn seen(seen: &Observations) -> Option<Pauses> {
        let mut pauses = Pauses::default();
        for ((_, number, total), sum) in LENGTHS.into_iter().zip(pauses.sums_mut()) {
            *sum = PauseSum { count: seen.count(number)?, total_ns: seen.count(total)? };
        }
        Some(pauses)
    }

    fn sums(&self) -> [PauseSum; 3] {
        [self.over_200us, self.over_1ms, self.over_10ms]
    }

    fn sums_mut(&mut self) -> [&mut PauseSum; 3] {
        [&mut self.over_200us, &mut self.over_1ms, &mut self.over_10ms]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_counts_in_every_length_that_it_reaches() {
        let mut pauses = Pauses::default();
        for gap in [199_999, 200_000, 1_500_000, 12_000_000] {
            pauses.note(gap);
        }
        let sum = |count, total_ns| PauseSum { count, total_ns };
        assert_eq!(pauses.over_200us, sum(3, 13_700_000));
        assert_eq!(pauses.over_1ms, sum(2, 13_500_000));
        assert_eq!(pauses.over_10ms, sum(1, 12_000_000));
    }

    #[test]
    fn what_is_entered_is_declared_and_read_again() {
        let mut pauses = Pauses::default();
        pauses.note(2_000_000);
        pauses.add(&pauses.clone());
        let mut seen = Observations::default();
        pauses.enter(&mut seen);
        assert_eq!(Pauses::seen(&seen), Some(pauses));
        assert_eq!(Pauses::seen(&Observations::default()), None);
        let declared: Vec<_> = Pauses::metrics().into_iter().map(|metric| metric.name).collect();
        assert_eq!(declared.len(), seen.iter().count());
        assert!(seen.iter().all(|(name, _)| declared.iter().any(|declared| declared == name)));
    }
}
