//! How long a service waits before it answers: one span, or a range over which its requests are spread.
//! It stands for a call to a database or another service, so it takes time but almost no CPU.

use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::duration::{self, DurationError};

/// The longest delay that is accepted: 60 s.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// The golden ratio's fraction in units of 2⁻⁶⁴.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// A delay uniformly distributed between `min` and `max`, both included; equal bounds make it constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    min: Duration,
    max: Duration,
}

/// Why a delay was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelayError {
    /// One of its bounds is not a duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A delay of zero.
    #[error("a delay must be above zero: leave it out for none")]
    Zero,
    /// The range is reversed.
    #[error("the range {min:?}..{max:?} is reversed: write the shorter delay first")]
    Backwards {
        /// The bound written first.
        min: Duration,
        /// The bound written second.
        max: Duration,
    },
    /// Longer than [`MAX_DELAY`].
    #[error("a delay of {0:?} is too long: the limit is 60 s")]
    TooLong(Duration),
}

impl Delay {
    /// A delay spread evenly over `min..=max`; both above zero, in order, and at most [`MAX_DELAY`].
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

/// The delays of one process's requests, one after the other.
///
/// They are the multiples of the golden ratio, modulo one, stretched over the range: a sequence of low discrepancy, which fills its range
/// evenly as it goes (Niederreiter 1992, "Random Number Generation and Quasi-Monte Carlo Methods", chapter 3). Any hundred requests in a
/// row have nearly the same delays as any other hundred, so that two short slices differ by their platforms and not by dice.
pub(crate) struct Spread {
    delay: Delay,
    position: AtomicU64,
}

impl Spread {
    pub(crate) fn new(delay: Delay) -> Self {
        Self { delay, position: AtomicU64::new(0) }
    }

    /// The delay of the next request.
    pub(crate) fn next(&self) -> Duration {
        let Delay { min, max } = self.delay;
        let position = self.position.fetch_add(GOLDEN_RATIO, Ordering::Relaxed);
        let values = (max - min).as_nanos() + 1;
        // Sixty seconds of nanoseconds fit in 64 bits many times over.
        let beyond_min = (u128::from(position) * values) >> 64;
        min + Duration::from_nanos(beyond_min as u64)
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
    fn any_hundred_requests_have_nearly_the_same_delays() -> Result<(), DelayError> {
        let spread = Spread::new(Delay::new(ms(1), ms(5))?);
        let delays: Vec<f64> = (0..1_000).map(|_| spread.next().as_secs_f64() * 1e3).collect();
        for hundred in delays.windows(100) {
            let mean = hundred.iter().sum::<f64>() / 100.0;
            assert!((2.94..3.06).contains(&mean), "a mean of {mean} ms");
            for tenth in 0..10 {
                let from = 1.0 + 0.4 * f64::from(tenth);
                let there = hundred.iter().filter(|delay| (from..from + 0.4).contains(*delay)).count();
                assert!((8..=12).contains(&there), "{there} of 100 in the tenth from {from} ms");
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn delays_stay_within_the_range(min in 1u64..1_000_000, more in 0u64..1_000_000) {
            let delay = Delay::new(Duration::from_nanos(min), Duration::from_nanos(min + more))
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            let spread = Spread::new(delay);
            for _ in 0..50 {
                let next = spread.next();
                prop_assert!(delay.min() <= next && next <= delay.max());
            }
        }
    }
}
