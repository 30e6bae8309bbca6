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
    pub(crate) failed: Option<f64>,
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

    /// Whether the service carries less for longer, and how much less was not found.
    pub(crate) fn is_worse_with_time(&self) -> bool {
        self.passed.is_none() && self.failures >= MOST_FAILED
    }
}
