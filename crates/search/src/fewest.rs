//! How few slices a search can do with: those of a service that passes every slice up to a rate and fails every slice above it.

use crate::plan::{Goal, Next, next};
use crate::trial::Trial;

/// Where the made-up service is, of the rate at which its search begins: the nearer, the fewer doublings.
const CARRIES: f64 = 1.5;
/// The rate is at no limit of the search.
const BEGINS: f64 = 1_000.0;
/// A search without noise ends long before.
const MOST_TRIALS: usize = 1_000;

/// Slices of a search for this precision that no chance prolongs, with those that confirm what is found, and overloads.
pub fn fewest_slices(precision: f64) -> f64 {
    let (least, most) = (1.0, BEGINS * BEGINS);
    let goal = Goal { from: BEGINS, least, most, precision, most_trials: MOST_TRIALS };
    let mut trials = Vec::new();
    while let Next::Try(probes) = next(&goal, &trials) {
        trials.extend(probes.into_iter().map(|probe| Trial {
            rate: probe.rate,
            slices: probe.slices,
            passed: probe.rate <= CARRIES * BEGINS,
            purpose: probe.purpose,
        }));
    }
    trials.iter().map(|trial| trial.slices).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finer_the_more_and_none_goes_on_for_long() {
        let slices = [0.5, 0.1, 0.02, 0.005, 0.002].map(fewest_slices);
        assert!(slices.is_sorted(), "{slices:?}");
        assert!(slices[0] >= 12.0 && slices[4] <= 60.0, "{slices:?}");
        assert!((20.0..35.0).contains(&slices[2]), "{slices:?}");
    }
}
