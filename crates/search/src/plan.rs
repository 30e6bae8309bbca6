//! What to try next: double the rate until it is too much, narrow the interval, see that slices well below and well above it do pass and fail,
//! confirm what was found with a long trial, and overload the service to see whether it comes back.

use loadline_model::rows::Purpose;

use crate::bounds::{Class, bounds};
use crate::confirm::{CONFIRM_SLICES, Confirmed, MOST_FAILED};
use crate::inverted::{Inverted, inverted};
use crate::load::loads;
use crate::posterior::{Estimate, estimate};
use crate::trial::{Trial, counted};

/// An overload, relative to the upper end of the interval.
const OVERLOAD: f64 = 1.5;
/// Overloads.
const OVERLOADS: usize = 2;
/// By so many scales a service must be below its capacity for a slice to pass nearly always: one in 160 fails by a logistic curve, and one in 30 by
/// that of Gumbel.
const CLEAR_SCALES: f64 = 3.0;
/// And by so much at least, in logarithms: the scale is known only roughly.
const LEAST_CLEAR: f64 = 0.1;
/// Slices that must be tried on each side that far away. Halving finds an edge even in coin tosses.
const FLANK_SLICES: usize = 2;
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
    let narrowing = narrowing(goal, trials, &found);
    if found.half_width > goal.precision && !is_at_limit(goal, trials, narrowing) {
        return search(narrowing);
    }
    if let Some(rate) = flank(goal, trials, &found) {
        return search(rate);
    }
    if let Some(rate) = unconfirmed(goal, trials, &found) {
        return Next::Try(vec![Probe { rate, slices: CONFIRM_SLICES, purpose: Purpose::Confirm }]);
    }
    let above = on_grid(goal, found.interval[1], f64::ceil);
    if above < goal.most && bounds(trials).upper.is_none_or(|upper| upper > above) {
        return search(above);
    }
    if let Some(Inverted { fails, passes }) = inverted(trials).filter(|seen| !seen.is_tried_enough()) {
        let again = |rate| Probe { rate, slices: 1.0, purpose: Purpose::Search };
        return Next::Try(vec![again(fails.rate), again(passes.rate)]);
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

/// Whether the rate is the highest that may be tried and passes, or the lowest and fails: a capacity beyond is not narrowed any further.
fn is_at_limit(goal: &Goal, trials: &[Trial], rate: f64) -> bool {
    let is = |limit: f64, class: Class| {
        rate == limit && loads(trials).iter().any(|load| load.rate == limit && load.class() == class)
    };
    is(goal.most, Class::Lower) || is(goal.least, Class::Upper)
}

/// The rate of the next long trial, until one passes or it is known that the service carries less for longer.
fn unconfirmed(goal: &Goal, trials: &[Trial], found: &Estimate) -> Option<f64> {
    let long = Confirmed::of(trials);
    // What a long trial passed well below an interval that has moved since says nothing of it.
    let lowest = found.interval[0] * (-2.0 * goal.precision * (1 + long.failures) as f64).exp();
    if long.passed.is_some_and(|passed| passed >= lowest) || long.failures >= MOST_FAILED {
        return None;
    }
    Some(on_grid(goal, long.next_rate(found.interval[0], goal.precision), f64::floor))
}

/// How far from its capacity a service nearly always passes, or fails, in logarithms.
fn clear_of(goal: &Goal, found: &Estimate) -> f64 {
    (CLEAR_SCALES * found.scale).max(LEAST_CLEAR).max(goal.precision)
}

/// A rate beside the capacity at which too few slices were tried.
fn flank(goal: &Goal, trials: &[Trial], found: &Estimate) -> Option<f64> {
    let clear = clear_of(goal, found);
    let is_tried = |side: f64| {
        let is_near =
            |trial: &&Trial| (0.5 * clear..2.0 * clear).contains(&(side * (trial.rate / found.rate).ln()));
        counted(trials).filter(is_near).count() >= FLANK_SLICES
    };
    let untried = [-1.0, 1.0].into_iter().filter(|side| !is_tried(*side));
    let rates = untried.map(|side| found.rate * (side * clear).exp());
    let within = |rate: &f64| (goal.least..=goal.most).contains(rate);
    rates.filter(within).map(|rate| on_grid(goal, rate, f64::round)).next()
}

/// Overloads the service, each time followed by a trial that it passes if the overload left nothing behind. Without that trial an overload says
/// nothing of what it left, and is made again.
fn overload(goal: &Goal, trials: &[Trial], found: &Estimate) -> Next {
    let of = |purpose| trials.iter().filter(|trial| trial.purpose == purpose).count();
    let made = of(Purpose::Overload).min(of(Purpose::Recover));
    let rate = tidy(found.interval[1] * OVERLOAD);
    if made >= OVERLOADS || rate > goal.most {
        return Next::Done;
    }
    let safe = on_grid(goal, found.interval[0] * (-clear_of(goal, found)).exp(), f64::floor);
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
        assert!(counted(&trials).count() <= 25, "{} trials", trials.len());
        let bounds = bounds(&trials);
        assert!((840.0..=870.0).contains(&bounds.lower.unwrap()), "{bounds:?}");
        assert!((870.0..=900.0).contains(&bounds.upper.unwrap()), "{bounds:?}");
        let of = |purpose| trials.iter().filter(|trial| trial.purpose == purpose).count();
        assert_eq!([Purpose::Confirm, Purpose::Overload, Purpose::Recover].map(of), [1, 2, 2]);
    }

    #[test]
    fn an_overload_after_which_nothing_was_tried_is_made_again() {
        let mut trials = searched(GOAL, |probe| probe.rate <= 870.0);
        let last = trials.pop().expect("a trial");
        assert_eq!(last.purpose, Purpose::Recover);
        let Next::Try(probes) = next(&GOAL, &trials) else { panic!("it is not over") };
        assert_eq!(
            probes.iter().map(|probe| probe.purpose).collect::<Vec<_>>(),
            [Purpose::Overload, Purpose::Recover]
        );
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
    fn a_capacity_just_beyond_the_highest_rate_is_not_searched_for_to_the_last_trial() {
        let goal = Goal { most: 2000.0, most_trials: 120, ..GOAL };
        // At the highest rate one slice fails by chance, the first.
        let is_first = std::cell::Cell::new(true);
        let trials = searched(goal, |probe| probe.rate < 2000.0 || !is_first.take());
        assert!(trials.len() < 30, "{} trials", trials.len());
        assert!(trials.iter().all(|trial| trial.rate <= 2000.0));
    }

    #[test]
    fn a_long_trial_that_fails_is_made_again_at_lower_rates() {
        let confirms = |carried_for_long: f64| {
            let trials = searched(GOAL, |probe| {
                probe.rate <= if probe.slices > 1.0 { carried_for_long } else { 870.0 }
            });
            let confirms = trials.iter().filter(|trial| trial.purpose == Purpose::Confirm);
            confirms.map(|trial| trial.passed).collect::<Vec<bool>>()
        };
        assert_eq!(confirms(870.0), [true]);
        assert_eq!(confirms(835.0), [false, true]);
        assert_eq!(confirms(700.0), [false; MOST_FAILED]);
    }

    #[test]
    fn a_search_ends_whatever_the_service_does() {
        // No two slices are alike.
        let trials = searched(GOAL, |probe| (probe.rate * 7919.0).fract() < 0.5);
        assert!(trials.len() <= GOAL.most_trials + 1, "{}", trials.len());
    }
}
