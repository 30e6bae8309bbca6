//! The slowest requests of a slice: when each was due and when it was done, so that what happened meanwhile can be found. As many as there
//! is room for from the start, and no more: keeping one allocates nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::load::Nanos;

/// How many are kept.
pub const MOST_SLOW: usize = 256;

/// When a request was due and done, by the clock of its engine (CLOCK_MONOTONIC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SlowRequest {
    /// Response time. The first field: requests are ordered by it.
    pub took: Nanos,
    /// When it was due.
    pub due: Nanos,
}

impl SlowRequest {
    /// When it was done.
    pub fn done(&self) -> Nanos {
        self.due + self.took
    }
}

/// The slowest so far; the least slow of them is the first to go.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slowest(BinaryHeap<Reverse<SlowRequest>>);

impl Default for Slowest {
    fn default() -> Slowest {
        Slowest(BinaryHeap::with_capacity(MOST_SLOW))
    }
}

impl Slowest {
    /// Keeps a request if it is among the slowest.
    #[inline]
    pub fn keep(&mut self, due: Nanos, took: Nanos) {
        if self.0.len() < MOST_SLOW {
            self.0.push(Reverse(SlowRequest { took, due }));
        } else if self.0.peek().is_some_and(|least| least.0.took < took)
            && let Some(mut least) = self.0.peek_mut()
        {
            *least = Reverse(SlowRequest { took, due });
        }
    }

    /// Those of another worker, or of a later interval, with these.
    pub fn merge(&mut self, other: &Slowest) {
        other.iter().for_each(|request| self.keep(request.due, request.took));
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// In no order.
    pub fn iter(&self) -> impl Iterator<Item = &SlowRequest> {
        self.0.iter().map(|Reverse(request)| request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(slowest: &Slowest) -> Vec<Nanos> {
        let mut all: Vec<Nanos> = slowest.iter().map(|request| request.took).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        #[test]
        fn the_slowest_are_kept_however_they_come(times in proptest::collection::vec(0u64..10_000, 0..1_000), cut in 0usize..1_000) {
            let cut = cut.min(times.len());
            let (mut one, mut other) = (Slowest::default(), Slowest::default());
            times[..cut].iter().for_each(|took| one.keep(7, *took));
            times[cut..].iter().for_each(|took| other.keep(9, *took));
            one.merge(&other);
            let mut expected = times;
            expected.sort_unstable();
            prop_assert_eq!(sorted(&one), &expected[expected.len().saturating_sub(MOST_SLOW)..]);
        }
    }

    #[test]
    fn room_is_kept_and_never_grows() {
        let mut slowest = Slowest::default();
        let room = slowest.0.capacity();
        (0..10_000).for_each(|took| slowest.keep(0, took));
        slowest.clear();
        assert_eq!((slowest.0.capacity(), slowest.iter().count()), (room, 0));
    }
}
