//! The warm-up test against series with a known end: level ones pass, moving ones fail until they have
//! flattened. Shares are over 2,000 simulated series each.

use crate::normals::Normals;
use loadline_stats::stationarity::WINDOW;
use loadline_stats::{Stationarity, stationary};

const SERIES: u32 = 2_000;

fn passes(figures: &[f64]) -> bool {
    stationary(figures) == Stationarity::Stationary
}

/// The share of series of `cycles` figures, `level(cycle)` with relative noise, whose last window passes.
fn passing(cycles: usize, noise: f64, level: impl Fn(usize) -> f64) -> f64 {
    let mut normals = Normals::new(9_000);
    let passed = (0..SERIES)
        .filter(|_| {
            let figures: Vec<f64> =
                (0..cycles).map(|cycle| level(cycle) * (1.0 + noise * normals.draw())).collect();
            passes(&figures)
        })
        .count();
    passed as f64 / f64::from(SERIES)
}

/// A just-in-time compiler at work: three times the floor at first, `cycles` to lose all but 1/e of the
/// excess.
fn decay(cycles: f64) -> impl Fn(usize) -> f64 {
    move |cycle| 1.0 + 2.0 * (-(cycle as f64) / cycles).exp()
}

#[test]
fn a_level_series_passes_whether_quiet_or_noisy() {
    for (noise, least) in [(0.0, 1.0), (0.005, 0.95), (0.02, 0.95), (0.05, 0.95), (0.10, 0.75)] {
        let share = passing(WINDOW, noise, |_| 70.0);
        println!("level, noise {:.1} %: {:.1} % pass at one look", 100.0 * noise, 100.0 * share);
        assert!(share >= least, "noise {noise}: {share}");
    }
}

#[test]
fn a_decay_fails_until_it_has_flattened() {
    for (constant, flat_at) in [(2.0, 20), (4.0, 32), (8.0, 60)] {
        let early = passing(WINDOW, 0.02, decay(constant));
        let late = passing(flat_at, 0.02, decay(constant));
        println!(
            "decay over {constant} cycles: {:.1} % pass at 8, {:.1} % at {flat_at}",
            100.0 * early,
            100.0 * late
        );
        assert!(early < 0.001, "{constant}: {early}");
        assert!(late > 0.93, "{constant}: {late}");
    }
}

#[test]
fn what_is_left_of_a_decay_when_it_first_passes_is_small() {
    for (constant, most_left) in [(2.0, 0.05), (4.0, 0.08), (8.0, 0.12)] {
        let mut normals = Normals::new(9_100);
        let mut left: Vec<f64> = (0..SERIES)
            .map(|_| {
                let mut figures = Vec::new();
                while !passes(&figures) {
                    figures.push(decay(constant)(figures.len()) * (1.0 + 0.02 * normals.draw()));
                }
                decay(constant)(figures.len() - 1) - 1.0
            })
            .collect();
        left.sort_by(f64::total_cmp);
        let (median, p95) = (left[left.len() / 2], left[left.len() * 95 / 100]);
        println!(
            "decay over {constant} cycles: {:.1} % left at the median, p95 {:.1} %",
            100.0 * median,
            100.0 * p95
        );
        assert!(p95 <= most_left, "{constant}: {p95}");
    }
}

#[test]
fn a_step_in_the_window_fails_in_either_direction() {
    for step in [1.25, 0.8] {
        let share = passing(WINDOW, 0.02, |cycle| if cycle < WINDOW / 2 { 1.0 } else { step });
        assert!(share < 0.001, "a step to {step}: {share}");
    }
}

#[test]
fn a_trend_between_one_and_ten_percent_fails_only_through_the_trend_test() {
    let rising: Vec<f64> = (0..8).map(|cycle| 100.0 + f64::from(cycle)).collect();
    let Stationarity::Trending { shift, p_value } = stationary(&rising) else {
        panic!("a steady rise passed")
    };
    assert!(shift > 0.01 && shift < 0.10, "{shift}");
    assert!(p_value < 0.001, "{p_value}");
    let shuffled = [100.0, 107.0, 101.0, 103.0, 104.0, 105.0, 102.0, 106.0];
    assert!(passes(&shuffled));
}

#[test]
fn a_trend_too_small_to_matter_passes() {
    let creeping: Vec<f64> = (0..8).map(|cycle| 100.0 - 0.1 * f64::from(cycle)).collect();
    assert!(passes(&creeping));
}

#[test]
fn only_the_last_eight_cycles_count() {
    let mut figures = vec![900.0, 500.0, 200.0];
    figures.extend([100.0; WINDOW]);
    assert!(passes(&figures));
    assert!(!passes(&figures[..figures.len() - 1]));
}

#[test]
fn too_few_cycles_and_figures_that_are_no_numbers_do_not_pass() {
    assert_eq!(stationary(&[1.0; WINDOW - 1]), Stationarity::TooFew);
    for broken in [f64::NAN, f64::INFINITY] {
        assert!(matches!(stationary(&[broken; WINDOW]), Stationarity::Trending { .. }), "{broken}");
    }
    let mut once = [1.0; WINDOW];
    once[3] = f64::NAN;
    assert!(!passes(&once));
}

#[test]
fn a_service_that_takes_no_measurable_time_is_stationary() {
    assert!(passes(&[0.0; WINDOW]));
    let mut fell = [0.0; WINDOW];
    fell[0] = 5.0;
    assert!(!passes(&fell));
}
