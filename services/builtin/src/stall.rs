//! A service that stops answering at known times, to show what coordinated omission hides.
//! The times follow the clock and not the load, so arithmetic predicts every quantile of the response time.

use std::str::FromStr;
use std::time::Duration;

use crate::duration::{self, DurationError};

/// The longest period that is accepted: one hour.
pub const MAX_EVERY: Duration = Duration::from_secs(3600);

/// No answers for `length` out of every `every`.
///
/// With the start of the service as zero, the k-th stall (k = 1, 2, …) covers `k·every − length` up to but not
/// including `k·every`: each cycle begins answering and ends stalled, and the first stall begins
/// `every − length` after the start. A request that arrives during a stall is answered when the stall is over; one
/// whose handling began earlier is answered at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    length: Duration,
    every: Duration,
}

/// Why a stall was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StallError {
    /// Not of the form `LENGTH/EVERY`.
    #[error("`{0}` is not a stall: write its length and its period, for example 1s/10s")]
    NoSlash(String),
    /// One of the two is not a duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A stall of length zero.
    #[error("a stall must be above zero: leave it out for none")]
    Zero,
    /// No time would be left for answers.
    #[error(
        "a stall of {length:?} every {every:?} leaves no time to answer: it must be shorter than its period"
    )]
    NeverAnswers {
        /// The requested length.
        length: Duration,
        /// The requested period.
        every: Duration,
    },
    /// Longer than [`MAX_EVERY`].
    #[error("a period of {0:?} is too long: the limit is one hour")]
    TooLong(Duration),
}

impl Stall {
    /// A stall of `length` in every `every`; `length` above zero and below `every`, which is at most [`MAX_EVERY`].
    pub fn new(length: Duration, every: Duration) -> Result<Self, StallError> {
        if length.is_zero() {
            return Err(StallError::Zero);
        }
        if length >= every {
            return Err(StallError::NeverAnswers { length, every });
        }
        if every > MAX_EVERY {
            return Err(StallError::TooLong(every));
        }
        Ok(Self { length, every })
    }

    /// How long one stall lasts.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// The time from the start of one stall to the start of the next.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// The remaining time of the stall at `since_start`, if there is one.
    pub(crate) fn remaining(&self, since_start: Duration) -> Option<Duration> {
        // Kept in nanoseconds: a cycle is at most an hour, so the remainder always fits.
        let into_cycle = Duration::from_nanos((since_start.as_nanos() % self.every.as_nanos()) as u64);
        (into_cycle >= self.every - self.length).then(|| self.every - into_cycle)
    }
}

/// Reads `1s/10s`: one second in every ten.
impl FromStr for Stall {
    type Err = StallError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (length, every) = text.split_once('/').ok_or_else(|| StallError::NoSlash(text.to_owned()))?;
        Self::new(duration::parse(length)?, duration::parse(every)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_cycle_begins_answering_and_ends_stalled() -> Result<(), StallError> {
        let stall: Stall = "1s/10s".parse()?;
        assert_eq!(stall.remaining(s(0)), None);
        assert_eq!(stall.remaining(Duration::from_nanos(8_999_999_999)), None);
        assert_eq!(stall.remaining(s(9)), Some(s(1)));
        assert_eq!(stall.remaining(Duration::from_millis(9_750)), Some(Duration::from_millis(250)));
        assert_eq!(stall.remaining(s(10)), None);
        assert_eq!(stall.remaining(s(19)), Some(s(1)));
        Ok(())
    }

    #[test]
    fn each_wrong_stall_is_refused_for_its_own_reason() {
        assert_eq!("1s".parse::<Stall>(), Err(StallError::NoSlash("1s".into())));
        assert_eq!("0s/10s".parse::<Stall>(), Err(StallError::Zero));
        assert_eq!("1/10s".parse::<Stall>(), Err(StallError::Duration(DurationError::NoUnit("1".into()))));
        assert_eq!("9s/9s".parse::<Stall>(), Err(StallError::NeverAnswers { length: s(9), every: s(9) }));
        assert_eq!("1s/3601s".parse::<Stall>(), Err(StallError::TooLong(s(3601))));
    }

    proptest! {
        #[test]
        fn a_stall_waited_out_is_over(
            length in 1u64..1_000, rest in 1u64..1_000, at_ns in 0u64..1_000_000_000_000,
        ) {
            let stall = Stall::new(Duration::from_millis(length), Duration::from_millis(length + rest))
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            let at = Duration::from_nanos(at_ns);
            if let Some(left) = stall.remaining(at) {
                prop_assert!(left <= stall.length());
                prop_assert_eq!(stall.remaining(at + left), None);
            }
        }
    }
}
