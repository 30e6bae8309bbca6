//! How long a service waits before it answers: one span, or a range from which each request draws its own.
//! It stands for a call to a database or another service, so it takes time but next to no CPU.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::duration::{self, DurationError};

/// The longest delay that is accepted: 60 s.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// The same draws in every deployment, so that a difference between two is not one of their delays.
const SEED: u64 = 0x6c6f_6164_6c69_6e65;

/// A delay between `min` and `max`, both included and drawn uniformly; equal bounds make it constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    min: Duration,
    max: Duration,
}

/// Why a delay was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelayError {
    /// One of its bounds is not a span of time.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// Nothing to wait for.
    #[error("a delay must be longer than zero: leave it out to have none")]
    Zero,
    /// The range runs backwards.
    #[error("the range {min:?}..{max:?} runs backwards: write the shorter delay first")]
    Backwards {
        /// The bound written first.
        min: Duration,
        /// The bound written second.
        max: Duration,
    },
    /// Longer than [`MAX_DELAY`].
    #[error("a delay of {0:?} is longer than the 60 s allowed")]
    TooLong(Duration),
}

impl Delay {
    /// A delay drawn uniformly from `min..=max`; both above zero, in order, and at most [`MAX_DELAY`].
    pub fn new(min: Duration, max: Duration) -> Result<Self, DelayError> {
        if min.is_zero() {
            return Err(DelayError::Zero);
        }
        if min > max {
            return Err(DelayError::Backwards { min, max });
        }
        if max > MAX_DELAY {
            return Err(DelayError::TooLong(max));
        }
        Ok(Self { min, max })
    }

    /// The shortest delay.
    pub fn min(&self) -> Duration {
        self.min
    }

    /// The longest delay.
    pub fn max(&self) -> Duration {
        self.max
    }
}

/// Reads `200us` or `1ms..5ms`.
impl FromStr for Delay {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        Self::new(duration::parse(min)?, duration::parse(max)?)
    }
}

/// Draws the delay of each request of one process.
pub(crate) struct Draw {
    delay: Delay,
    rng: Mutex<Pcg64Mcg>,
}

impl Draw {
    pub(crate) fn new(delay: Delay) -> Self {
        Self { delay, rng: Mutex::new(Pcg64Mcg::seed_from_u64(SEED)) }
    }

    /// The delay of the next request.
    pub(crate) fn next(&self) -> Duration {
        let Delay { min, max } = self.delay;
        if min == max {
            return min;
        }
        // A generator is whole after any panic of another holder, so the poison says nothing.
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        // Sixty seconds of nanoseconds fit in 64 bits many times over.
        Duration::from_nanos(rng.random_range(min.as_nanos() as u64..=max.as_nanos() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn one_span_and_a_range_are_read() {
        assert_eq!("1ms..5ms".parse(), Delay::new(ms(1), ms(5)));
        assert_eq!("200us".parse(), Delay::new(Duration::from_micros(200), Duration::from_micros(200)));
    }

    #[test]
    fn each_wrong_delay_is_refused_for_its_own_reason() {
        assert_eq!("5ms..1ms".parse::<Delay>(), Err(DelayError::Backwards { min: ms(5), max: ms(1) }));
        assert_eq!("0ms".parse::<Delay>(), Err(DelayError::Zero));
        assert_eq!("61s".parse::<Delay>(), Err(DelayError::TooLong(Duration::from_secs(61))));
        assert_eq!("5".parse::<Delay>(), Err(DelayError::Duration(DurationError::NoUnit("5".into()))));
        assert!("1ms..".parse::<Delay>().is_err());
    }

    #[test]
    fn two_processes_draw_the_same_delays() -> Result<(), DelayError> {
        let delay = Delay::new(ms(1), ms(5))?;
        let (one, other) = (Draw::new(delay), Draw::new(delay));
        let draws: Vec<_> = (0..100).map(|_| one.next()).collect();
        assert_eq!(draws, (0..100).map(|_| other.next()).collect::<Vec<_>>());
        assert!(draws.iter().any(|d| *d != draws[0]), "a range does not draw one value only");
        Ok(())
    }

    proptest! {
        #[test]
        fn draws_stay_within_the_range(min in 1u64..1_000_000, more in 0u64..1_000_000) {
            let delay = Delay::new(Duration::from_nanos(min), Duration::from_nanos(min + more))
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            let draw = Draw::new(delay);
            for _ in 0..50 {
                let drawn = draw.next();
                prop_assert!(delay.min() <= drawn && drawn <= delay.max());
            }
        }
    }
}
