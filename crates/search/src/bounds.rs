//! Loads that certainly pass or certainly fail, as RFC 9971 classifies them.

use std::collections::BTreeMap;

use crate::confirm::Confirmed;
use crate::trial::{Trial, counted};

/// The length that a load must have been tried for, in slices, to be a bound.
const REQUIRED: f64 = 3.0;
/// The share of that length which may fail at a lower bound.
const TOLERATED: f64 = 0.5;
/// Rates that differ by less are one load.
const SAME: f64 = 0.005;

/// Both bounds; either may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The highest load that passes, and that no smaller load contradicts by failing.
    pub lower: Option<f64>,
    /// The lowest load that fails.
    pub upper: Option<f64>,
}

/// The trials of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub rate: f64,
    /// Slices that passed, and that failed.
    pub passed: f64,
    pub failed: f64,
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
        let whole = (self.passed + self.failed).max(REQUIRED);
        let missing = whole - self.passed - self.failed;
        if self.failed / whole > TOLERATED {
            Class::Upper
        } else if (self.failed + missing) / whole <= TOLERATED {
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

/// By rising rate.
pub(crate) fn loads(trials: &[Trial]) -> Vec<Load> {
    let mut loads: BTreeMap<i64, Load> = BTreeMap::new();
    for trial in counted(trials) {
        let load = loads.entry((trial.rate.ln() / SAME).round() as i64).or_default();
        load.rate = trial.rate;
        match trial.passed {
            true => load.passed += trial.slices,
            false => load.failed += trial.slices,
        }
    }
    loads.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::rows::Purpose;

    fn trials(outcomes: &[(f64, f64, bool)]) -> Vec<Trial> {
        let trial = |(rate, slices, passed): &(f64, f64, bool)| Trial {
            rate: *rate,
            slices: *slices,
            passed: *passed,
            purpose: Purpose::Search,
        };
        outcomes.iter().map(trial).collect()
    }

    #[test]
    fn a_load_is_a_bound_once_no_further_slice_could_change_that() {
        let once = [(100.0, 1.0, true), (200.0, 1.0, false)];
        assert_eq!(bounds(&trials(&once)), Bounds::default(), "one slice of three leaves it open");
        let found = bounds(&trials(&[once, once].concat()));
        assert_eq!((found.lower, found.upper), (Some(100.0), Some(200.0)));
    }

    #[test]
    fn a_larger_load_that_passes_is_no_lower_bound() {
        let twice = |rate: f64, passed: bool| [(rate, 2.0, passed)];
        let all = [twice(100.0, true), twice(150.0, false), twice(200.0, true)].concat();
        let found = bounds(&trials(&all));
        assert_eq!(found, Bounds { lower: Some(100.0), upper: Some(150.0) });
    }
}
