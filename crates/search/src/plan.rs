//! What to try next: double the rate until it is too much, narrow the interval, confirm what was found with a long trial, and overload the service
//! to see whether it comes back.

use loadline_model::rows::Purpose;

use crate::bounds::bounds;
use crate::posterior::{Estimate, estimate};
use crate::trial::{Trial, counted};

/// Slices of a trial that confirms.
const CONFIRM_SLICES: f64 = 5.0;
/// So often a trial that confirms may fail, and revise the estimate, before the search gives up.
const MOST_REVISIONS: usize = 3;
/// An overload, relative to the upper end of the interval.
const OVERLOAD: f64 = 1.5;
/// Overloads.
const OVERLOADS: usize = 2;
/// By so many scales a service must be below its capacity for a slice to pass nearly always: one in 160 fails.
const SAFE_SCALES: f64 = 3.0;
/// By which a probe lies beside the median, in scales: at the median itself nothing is learnt of the scale.
const BESIDE: f64 = 0.7;

/// What a search is to find, and within which rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The first rate, requests a second.
    pub from: f64,
    /// No smaller rate is tried.
    pub least: f64,
    /// No larger rate is tried: the generator cannot send more.
    pub most: f64,
    /// Half the width that the interval is to have, relative to the rate.
    pub precision: f64,
    /// The search ends after so many trials.
    pub most_trials: usize,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Try these, one immediately after the other.
    Try(Vec<Probe>),
    /// Everything was found, or cannot be.
    Done,
}

/// A trial to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Requests a second.
    pub rate: f64,
    /// Its length, in slices.
    pub slices: f64,
    /// What it is for.
    pub purpose: Purpose,
}

/// What to try after these trials.
pub fn next(goal: &Goal, trials: &[Trial]) -> Next {
    if trials.len() >= goal.most_trials {
        return Next::Done;
    }
    let Some(found) = estimate(trials) else { return rise_or_fall(goal, trials) };
    if found.half_width > goal.precision {
        return search(narrowing(goal, trials, &found));
    }
    let confirms = || trials.iter().filter(|trial| trial.purpose == Purpose::Confirm);
    let below = on_grid(goal, found.interval[0], f64::floor);
    let is_confirmed = confirms().any(|trial| trial.passed && trial.rate >= below * (1.0 - goal.precision));
    let revisions = confirms().filter(|trial| !trial.passed).count();
    if !is_confirmed && revisions >= MOST_REVISIONS {
        return Next::Done;
    }
    if !is_confirmed {
        return Next::Try(vec![Probe { rate: below, slices: CONFIRM_SLICES, purpose: Purpose::Confirm }]);
    }
    if bounds(trials).upper.is_none() {
        return search(on_grid(goal, found.interval[1], f64::ceil));
    }
    overload(goal, trials, &found)
}

fn search(rate: f64) -> Next {
    Next::Try(vec![Probe { rate, slices: 1.0, purpose: Purpose::Search }])
}

/// Until some pass and some fail.
fn rise_or_fall(goal: &Goal, trials: &[Trial]) -> Next {
    let rates = || counted(trials).map(|trial| trial.rate);
    let Some(last) = rates().last() else { return search(goal.from.clamp(goal.least, goal.most)) };
    if counted(trials).all(|trial| trial.passed) {
        let highest = rates().fold(last, f64::max);
        return if highest >= goal.most { Next::Done } else { search((2.0 * highest).min(goal.most)) };
    }
    let lowest = rates().fold(last, f64::min);
    if lowest <= goal.least { Next::Done } else { search((lowest / 2.0).max(goal.least)) }
}

/// Where most is learnt: in the middle while it could be anywhere, then on both sides of it.
fn narrowing(goal: &Goal, trials: &[Trial], found: &Estimate) -> f64 {
    let is_wide = found.half_width > 3.0 * found.scale;
    let beside = match (is_wide, counted(trials).count() % 2) {
        (true, _) => 0.0,
        (false, 0) => -BESIDE * found.scale,
        (false, _) => BESIDE * found.scale,
    };
    on_grid(goal, found.rate * beside.exp(), f64::round)
}

/// Overloads the service, each time followed by a trial that it passes if the overload left nothing behind.
fn overload(goal: &Goal, trials: &[Trial], found: &Estimate) -> Next {
    let made = trials.iter().filter(|trial| trial.purpose == Purpose::Overload).count();
    let rate = tidy(found.interval[1] * OVERLOAD);
    if made >= OVERLOADS || rate > goal.most {
        return Next::Done;
    }
    let safe = tidy(found.interval[0] * (-SAFE_SCALES * found.scale).exp());
    Next::Try(vec![
        Probe { rate, slices: 1.0, purpose: Purpose::Overload },
        Probe { rate: safe, slices: 1.0, purpose: Purpose::Recover },
    ])
}

/// With four digits, as people write it.
fn tidy(rate: f64) -> f64 {
    let digits = 3 - rate.log10().floor() as i32;
    let power = 10f64.powi(digits.abs());
    if digits > 0 { (rate * power).round() / power } else { (rate / power).round() * power }
}

/// The rate of a grid whose steps are half of the precision, so that loads are met again and become bounds.
fn on_grid(goal: &Goal, rate: f64, round: fn(f64) -> f64) -> f64 {
    let step = goal.precision / 2.0;
    tidy((round(rate.ln() / step) * step).exp()).clamp(goal.least, goal.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: Goal = Goal { from: 100.0, least: 1.0, most: 10_000.0, precision: 0.02, most_trials: 60 };

    /// Searches a service that passes up to a rate, and returns all trials.
    fn searched(goal: Goal, passes: impl Fn(&Probe) -> bool) -> Vec<Trial> {
        let mut trials = Vec::new();
        while let Next::Try(probes) = next(&goal, &trials) {
            trials.extend(probes.into_iter().map(|probe| Trial {
                rate: probe.rate,
                slices: probe.slices,
                passed: passes(&probe),
                purpose: probe.purpose,
            }));
        }
        trials
    }

    #[test]
    fn a_cliff_is_found_confirmed_and_overloaded() {
        let trials = searched(GOAL, |probe| probe.rate <= 870.0);
        let found = estimate(&trials).unwrap();
        assert!(found.interval[0] <= 870.0 && 870.0 <= found.interval[1], "{found:?}");
        assert!(found.half_width <= 0.02, "{found:?}");
        assert!(trials.len() <= 25, "{} trials", trials.len());
        let bounds = bounds(&trials);
        assert!(bounds.lower.unwrap() <= 870.0 && bounds.upper.unwrap() > 870.0, "{bounds:?}");
        let of = |purpose| trials.iter().filter(|trial| trial.purpose == purpose).count();
        assert_eq!([Purpose::Confirm, Purpose::Overload, Purpose::Recover].map(of), [1, 2, 2]);
    }

    #[test]
    fn what_carries_all_that_can_be_sent_or_nothing_ends_the_search_at_its_limits() {
        let trials = searched(GOAL, |_| true);
        assert_eq!(trials.last().unwrap().rate, 10_000.0);
        let trials = searched(GOAL, |_| false);
        assert_eq!(trials.last().unwrap().rate, 1.0);
        assert!(trials.len() < 10, "{trials:?}");
    }

    #[test]
    fn a_long_trial_that_fails_revises_what_was_found() {
        // Long trials carry less.
        let trials = searched(GOAL, |probe| probe.rate <= if probe.slices > 1.0 { 700.0 } else { 870.0 });
        let revised =
            trials.iter().filter(|trial| trial.purpose == Purpose::Confirm && !trial.passed).count();
        assert!(revised >= 1, "{trials:?}");
    }

    #[test]
    fn a_search_ends_whatever_the_service_does() {
        // No two slices are alike.
        let trials = searched(GOAL, |probe| (probe.rate * 7919.0).fract() < 0.5);
        assert!(trials.len() <= GOAL.most_trials + 1, "{}", trials.len());
    }
}
