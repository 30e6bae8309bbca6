//! Changes of made-up series of nightly runs: how often one that was planted is found, and one that was not.

use loadline_stats::{Weighted, change_points};

use crate::normals::Normals;

/// Runs of a series.
const LENGTH: usize = 40;
/// By how much a figure varies from run to run, relative to itself.
const NOISE: f64 = 0.01;
/// What is planted.
const CHANGE: f64 = 0.03;
/// A change is found where it is if it is found within so many runs of there.
const NEAR: usize = 2;

/// A figure of each run, the later of which are larger by `change`, and the first of these.
fn series(seed: u64, change: f64) -> (Vec<Weighted>, usize) {
    let mut normals = Normals::new(seed);
    // With six runs at either end at least.
    let at = 6 + (normals.uniform() * (LENGTH - 12) as f64) as usize;
    let figure = |run: usize| {
        let level = if run >= at { 1.0 + change } else { 1.0 };
        Weighted { figure: 100.0 * level * (1.0 + NOISE * normals.draw()), weight: 1.0 }
    };
    ((0..LENGTH).map(figure).collect(), at)
}

/// In how many series the planted change is found where it is.
pub fn found(count: u64) -> usize {
    let is_found = |seed: &u64| {
        let (figures, at) = series(*seed, CHANGE);
        let changes = change_points(&figures, *seed);
        changes.iter().any(|change| change.at.abs_diff(at) <= NEAR)
    };
    (0..count).filter(is_found).count()
}

/// In how many series without a change one is found.
pub fn false_alarms(count: u64) -> usize {
    (0..count).filter(|seed| !change_points(&series(1_000_000 + seed, 0.0).0, *seed).is_empty()).count()
}

#[test]
fn a_planted_change_is_found_and_none_that_was_not() {
    assert!(found(20) >= 18);
    assert!(false_alarms(20) <= 1);
}
