//! What the resolution and the test of equivalence promise, by simulation over means of independent figures.

use loadline_stats::{Bootstrap, Interval, Levels, bootstrap};

use crate::normals::Normals;

const LEVELS: Levels = Levels::DEFAULT;
const UNITS: [usize; 3] = [5, 8, 12];

/// How many runs are simulated, and how far the share of so many may lie from what is promised.
#[derive(Clone, Copy)]
pub struct Extent {
    pub runs: u64,
    pub slack: f64,
    pub resamples: usize,
}

const HUNDREDS: Extent = Extent { runs: 400, slack: 0.03, resamples: 200 };

/// The share of runs of so many units, with a true mean of so many standard errors, for which `says`; it is given the true standard error.
fn share(
    extent: Extent,
    units: usize,
    truth: f64,
    seed: u64,
    says: impl Fn(&dyn Fn(f64) -> Bootstrap, f64) -> bool,
) -> f64 {
    let mut normals = Normals::new(seed);
    let standard_error = 1.0 / (units as f64).sqrt();
    let count = (0..extent.runs).filter(|replication| {
        let figures: Vec<f64> = (0..units).map(|_| truth * standard_error + normals.draw()).collect();
        let shifted = |by: f64| {
            let mean = |counts: &[u32]| {
                let sum: f64 =
                    figures.iter().zip(counts).map(|(figure, count)| figure * f64::from(*count)).sum();
                by + sum / units as f64
            };
            bootstrap(units, extent.resamples, *replication, mean).expect("two units or more")
        };
        says(&shifted, standard_error)
    });
    count.count() as f64 / extent.runs as f64
}

/// The shares of runs that claim a difference as large as the resolution of a run with the true standard error.
pub fn found_at_the_resolution(extent: Extent) -> Vec<f64> {
    let found = UNITS.map(|units| {
        share(extent, units, 0.0, units as u64, |run, standard_error| {
            let typical = Bootstrap {
                estimate: 0.0,
                standard_error,
                degrees_of_freedom: units as f64 - 1.0,
                tail_weight: 1.0,
            };
            run(typical.resolution(LEVELS.difference)).p_value() < LEVELS.difference
        })
    });
    for (units, found) in UNITS.into_iter().zip(found) {
        println!("{units} units: found at the resolution {:.1} %", 100.0 * found);
        assert!((0.93 - extent.slack..=0.97 + extent.slack).contains(&found), "{units} units: {found}");
    }
    found.to_vec()
}

/// The shares of runs that call a difference equivalent which is as large as the margin, for margins of 1, 3 and 6 standard errors.
pub fn equivalent_at_the_margin(extent: Extent) -> Vec<f64> {
    let mut all = Vec::new();
    for units in UNITS {
        for margin in [1.0, 3.0, 6.0] {
            let wrong = share(extent, units, margin, 100 + units as u64, |run, standard_error| {
                run(0.0).equivalence_p(Interval::around(0.0, margin * standard_error)) < LEVELS.equivalence
            });
            println!("{units} units, margin {margin} SE: equivalent at the margin {:.1} %", 100.0 * wrong);
            // As many as a level of 5 % shows by chance in the worst of nine such shares.
            let chance = 3.0 * (LEVELS.equivalence * (1.0 - LEVELS.equivalence) / extent.runs as f64).sqrt();
            assert!(wrong <= LEVELS.equivalence + chance, "{units} units, {margin} standard errors: {wrong}");
            all.push(wrong);
        }
    }
    all
}

#[test]
fn a_difference_as_large_as_the_resolution_is_found_nineteen_times_in_twenty() {
    found_at_the_resolution(HUNDREDS);
}

#[test]
fn a_difference_as_large_as_the_margin_is_seldom_called_equivalent() {
    equivalent_at_the_margin(HUNDREDS);
}

#[test]
fn what_does_not_differ_is_equivalent_once_the_run_is_precise_enough() {
    let right = |margin: f64| {
        share(HUNDREDS, 8, 0.0, 208, |run, standard_error| {
            run(0.0).equivalence_p(Interval::around(0.0, margin * standard_error)) < LEVELS.equivalence
        })
    };
    // A run that can't tell must not say so: the margin does not grow with its noise.
    assert!(right(1.0) < 0.05, "{}", right(1.0));
    assert!(right(6.0) > 0.9, "{}", right(6.0));
}

#[test]
fn equivalence_holds_where_the_90_percent_interval_lies_within_the_margin() {
    let run = Bootstrap { estimate: 0.4, standard_error: 0.3, degrees_of_freedom: 7.0, tail_weight: 1.0 };
    let Interval { low, high } = run.interval(0.90);
    let p = |low, high| run.equivalence_p(Interval { low, high });
    assert!((p(-5.0, high) - 0.05).abs() < 1e-9, "{}", p(-5.0, high));
    assert!((p(low, 5.0) - 0.05).abs() < 1e-9, "{}", p(low, 5.0));
    assert!(p(low - 0.1, high + 0.1) < 0.05 && p(low - 0.1, high - 0.1) > 0.05);
}

#[test]
fn what_resampling_does_not_move_is_equivalent_within_the_margin_and_on_its_edge() {
    let run = Bootstrap { estimate: 0.0, standard_error: 0.0, degrees_of_freedom: 7.0, tail_weight: 1.0 };
    assert_eq!(run.equivalence_p(Interval::around(0.0, 0.0)), 0.0);
    assert_eq!(Bootstrap { estimate: 2.0, ..run }.equivalence_p(Interval::around(0.0, 1.0)), 1.0);
}
