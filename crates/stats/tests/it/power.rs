//! What the resolution and the test of equivalence promise, by simulation over means of independent figures.

use loadline_stats::{bootstrap, t_quantile};

use crate::normals::Normals;

const RUNS: u64 = 1_000;
const RESAMPLES: usize = 400;
const ALPHA: f64 = 0.05;

/// The share of runs of so many units, with a true mean in standard errors, for which `says`.
fn share(units: usize, truth: f64, seed: u64, says: impl Fn(&loadline_stats::Bootstrap, f64) -> bool) -> f64 {
    let mut normals = Normals::new(seed);
    let standard_error = 1.0 / (units as f64).sqrt();
    let count = (0..RUNS).filter(|replication| {
        let figures: Vec<f64> = (0..units).map(|_| truth * standard_error + normals.draw()).collect();
        let mean = |counts: &[u32]| {
            figures.iter().zip(counts).map(|(figure, count)| figure * f64::from(*count)).sum::<f64>()
                / units as f64
        };
        says(&bootstrap(units, RESAMPLES, *replication, mean).expect("units"), standard_error)
    });
    count.count() as f64 / RUNS as f64
}

#[test]
fn a_difference_as_large_as_the_resolution_is_found_nineteen_times_in_twenty() {
    for units in [5, 8, 12] {
        let df = units as f64 - 1.0;
        let truth = t_quantile(1.0 - ALPHA / 2.0, df) + t_quantile(0.95, df);
        let found = share(units, truth, units as u64, |run, _| run.p_value() < ALPHA);
        assert!((0.92..=0.98).contains(&found), "{units} units: {found}");
    }
}

#[test]
fn a_difference_as_large_as_the_margin_is_seldom_called_equivalent() {
    for units in [5, 8, 12] {
        for margin in [1.0, 3.0, 6.0] {
            let says = |run: &loadline_stats::Bootstrap, standard_error: f64| {
                run.equivalence_p(margin * standard_error) < ALPHA
            };
            let wrong = share(units, margin, 100 + units as u64, says);
            assert!(wrong <= 0.065, "{units} units, a margin of {margin} standard errors: {wrong}");
            let right = share(units, 0.0, 200 + units as u64, says);
            assert!(margin < 6.0 || right > 0.9, "{units} units: {right}");
        }
    }
}
