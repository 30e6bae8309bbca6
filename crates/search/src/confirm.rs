//! What long trials say of what short ones found: whether the service carries as much for longer.

use loadline_model::rows::Purpose;

use crate::trial::Trial;

/// Slices of a trial that confirms.
pub(crate) const CONFIRM_SLICES: f64 = 5.0;
/// Long trials that fail, each at a rate that is lower by the precision than the one before, until the service is said to carry less for longer.
pub(crate) const MOST_FAILED: usize = 3;

/// How long trials went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirmed {
    /// The highest rate that passed.
    pub passed: Option<f64>,
    /// The lowest rate that failed.
    pub failed: Option<f64>,
    /// How many failed.
    pub(crate) failures: usize,
}

impl Confirmed {
    /// What these trials say.
    pub fn of(trials: &[Trial]) -> Confirmed {
        let rates = |passed: bool| {
            let confirms = trials.iter().filter(|trial| trial.purpose == Purpose::Confirm);
            confirms.filter(move |trial| trial.passed == passed).map(|trial| trial.rate)
        };
        Confirmed {
            passed: rates(true).reduce(f64::max),
            failed: rates(false).reduce(f64::min),
            failures: rates(false).count(),
        }
    }

    /// What the service carries for longer, whose capacity in slices has an interval that begins at `low`: that, unless a long trial failed; then
    /// what passed, if anything did. A long slice has a capacity of its own, so that it has no part in the posterior of shorter ones.
    pub fn carried(&self, low: f64) -> Option<f64> {
        match self.failed {
            None => Some(low),
            Some(_) => self.passed.map(|passed| passed.min(low)),
        }
    }

    /// The rate of the next long trial: `low`, or less than any that failed, by the precision.
    pub fn next_rate(&self, low: f64, precision: f64) -> f64 {
        self.failed.map_or(low, |failed| failed * (-precision).exp())
    }

    /// Whether the service carries less for longer, and how much less was not found.
    pub(crate) fn is_worse_with_time(&self) -> bool {
        self.passed.is_none() && self.failures >= MOST_FAILED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(rate: f64, passed: bool) -> Trial {
        Trial { rate, slices: CONFIRM_SLICES, passed, purpose: Purpose::Confirm }
    }

    #[test]
    fn a_long_trial_that_fails_revises_what_is_carried() {
        let carried = |trials: &[Trial]| Confirmed::of(trials).carried(100.0);
        assert_eq!(carried(&[]), Some(100.0));
        assert_eq!(carried(&[long(99.0, true)]), Some(100.0));
        assert_eq!(carried(&[long(99.0, false), long(97.0, true)]), Some(97.0));
        assert_eq!(carried(&[long(99.0, false), long(110.0, true)]), Some(100.0), "the interval has moved");
        assert_eq!(carried(&[long(99.0, false), long(97.0, false)]), None);
    }

    #[test]
    fn the_next_is_below_those_that_failed() {
        let next = |trials: &[Trial]| Confirmed::of(trials).next_rate(100.0, 0.02);
        assert_eq!(next(&[]), 100.0);
        assert!((next(&[long(100.0, false), long(98.0, false)]) - 96.06).abs() < 0.01);
    }
}
