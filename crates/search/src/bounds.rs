//! Loads that certainly pass or certainly fail, as RFC 9971 classifies them.

use crate::confirm::Confirmed;
use crate::load::{Load, loads};
use crate::trial::Trial;

/// Slices that a load must have been tried for to be a bound.
const REQUIRED: u32 = 3;
/// The share of them which may fail at a lower bound.
const TOLERATED: f64 = 0.5;

/// Both bounds; either may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The highest load that passes, and that no smaller load contradicts by failing.
    pub lower: Option<f64>,
    /// The lowest load that fails.
    pub upper: Option<f64>,
}

/// What a load is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Lower,
    Upper,
    Undecided,
}

impl Load {
    /// RFC 9971, section 4.6: a load is an upper bound once the failing time exceeds its share of all that is required, and a lower bound once what
    /// is still missing could not make it one.
    pub fn class(&self) -> Class {
        let whole = self.slices().max(REQUIRED);
        let share = |slices: u32| f64::from(slices) / f64::from(whole);
        if share(self.failed) > TOLERATED {
            Class::Upper
        } else if share(whole - self.passed) <= TOLERATED {
            Class::Lower
        } else {
            Class::Undecided
        }
    }
}

/// The bounds that these trials show.
pub fn bounds(trials: &[Trial]) -> Bounds {
    let loads = loads(trials);
    let of = |class: Class| loads.iter().filter(move |load| load.class() == class).map(|load| load.rate);
    let upper = of(Class::Upper).next();
    // What passes for longer passes in each part of it.
    let lowers = of(Class::Lower).chain(Confirmed::of(trials).passed);
    Bounds { lower: lowers.filter(|rate| upper.is_none_or(|upper| *rate < upper)).reduce(f64::max), upper }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::rows::Purpose;

    fn trials(outcomes: &[(f64, bool)]) -> Vec<Trial> {
        let trial = |(rate, passed): &(f64, bool)| Trial {
            rate: *rate,
            slices: 1.0,
            passed: *passed,
            purpose: Purpose::Search,
        };
        outcomes.iter().map(trial).collect()
    }

    #[test]
    fn a_load_is_a_bound_once_no_further_slice_could_change_that() {
        let once = [(100.0, true), (200.0, false)];
        assert_eq!(bounds(&trials(&once)), Bounds::default(), "one slice of three leaves it open");
        let found = bounds(&trials(&[once, once].concat()));
        assert_eq!((found.lower, found.upper), (Some(100.0), Some(200.0)));
    }

    #[test]
    fn a_larger_load_that_passes_is_no_lower_bound() {
        let each = [(100.0, true), (150.0, false), (200.0, true)];
        let found = bounds(&trials(&[each, each].concat()));
        assert_eq!(found, Bounds { lower: Some(100.0), upper: Some(150.0) });
    }

    #[test]
    fn what_passes_for_longer_is_a_lower_bound() {
        let once = [(100.0, true), (200.0, false), (200.0, false)];
        let long = Trial { rate: 110.0, slices: 5.0, passed: true, purpose: Purpose::Confirm };
        let found = bounds(&[&trials(&once)[..], &[long]].concat());
        assert_eq!(found, Bounds { lower: Some(110.0), upper: Some(200.0) });
    }
}
