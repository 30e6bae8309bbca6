//! A run that goes on until its interval is narrow enough keeps its level with the confidence sequence, and
//! loses it with a 95 % interval after every deployment. By simulation, 4,000 runs each; `prove` makes it 40,000.

use crate::normals::Normals;
use loadline_stats::{look_confidence, look_sizes, t_interval};

const THOUSANDS: u32 = 4_000;
const ALPHA: f64 = 0.05;
const MOST_DEPLOYMENTS: usize = 60;

/// How often the true difference (zero) was missed: in the interval that ended the run, and in any of those
/// shown.
fn missed(looks: &[(usize, f64)], narrow_enough: f64, seed: u64, runs: u32) -> (f64, f64) {
    let mut normals = Normals::new(seed);
    let (mut at_the_end, mut ever) = (0, 0);
    for _ in 0..runs {
        let differences: Vec<f64> = (0..MOST_DEPLOYMENTS).map(|_| normals.draw()).collect();
        let intervals = looks
            .iter()
            .map(|(size, confidence)| t_interval(&differences[..*size], *confidence).expect("two or more"));
        let shown: Vec<_> = intervals.collect();
        let last = shown.iter().find(|shown| shown.half_width() <= narrow_enough).or(shown.last());
        at_the_end += u32::from(last.is_some_and(|last| !last.contains(0.0)));
        ever += u32::from(shown.iter().any(|shown| !shown.contains(0.0)));
    }
    (f64::from(at_the_end) / f64::from(runs), f64::from(ever) / f64::from(runs))
}

#[test]
fn running_until_narrow_enough_keeps_the_level_with_a_confidence_sequence() {
    with_a_confidence_sequence(THOUSANDS);
}

/// How often the truth is missed at any look, for the width at which that happens most.
pub fn with_a_confidence_sequence(runs: u32) -> f64 {
    let mut most = 0.0;
    let looks: Vec<(usize, f64)> = look_sizes(6)
        .take_while(|size| *size <= MOST_DEPLOYMENTS)
        .zip(1..)
        .map(|(size, k)| (size, look_confidence(ALPHA, k)))
        .collect();
    for (index, narrow_enough) in [2.0, 1.0, 0.7, 0.5].into_iter().enumerate() {
        let (at_the_end, ever) = missed(&looks, narrow_enough, 7_000 + index as u64, runs);
        println!(
            "sequence, until ±{narrow_enough} sd: covers {:.1} % at the end, {:.1} % at every look",
            100.0 * (1.0 - at_the_end),
            100.0 * (1.0 - ever)
        );
        assert!(at_the_end <= ALPHA, "until ±{narrow_enough}: {at_the_end}");
        assert!(ever <= ALPHA, "at any look: {ever}");
        most = f64::max(most, ever);
    }
    most
}

#[test]
fn running_until_narrow_enough_loses_the_level_with_a_naive_interval_after_every_deployment() {
    with_a_naive_interval(THOUSANDS);
}

/// The same with a 95 % interval after every deployment, when such a run ends.
pub fn with_a_naive_interval(runs: u32) -> f64 {
    let looks: Vec<(usize, f64)> = (2..=MOST_DEPLOYMENTS).map(|size| (size, 1.0 - ALPHA)).collect();
    let (at_the_end, ever) = missed(&looks, 1.0, 7_100, runs);
    println!(
        "naive, until ±1 sd: covers {:.1} % at the end, {:.1} % at every look",
        100.0 * (1.0 - at_the_end),
        100.0 * (1.0 - ever)
    );
    assert!(at_the_end > 0.06, "stopping early on a lucky spread should cost coverage: {at_the_end}");
    assert!(ever > 0.15, "looking again and again should cost coverage: {ever}");
    at_the_end
}

#[test]
fn looks_start_at_the_first_size_and_are_spaced_by_at_least_1_3() {
    let sizes: Vec<usize> = look_sizes(6).take(8).collect();
    assert_eq!(sizes, [6, 8, 11, 15, 20, 26, 34, 45]);
    assert_eq!(look_sizes(10).nth(1), Some(13), "rounded up from exactly 13, not from a little more");
    assert!(look_sizes(0).take(5).is_sorted_by(|a, b| a < b), "always grows");
    assert!(look_sizes(6).count() > 100, "ends only by overflow");
}

#[test]
fn the_errors_of_all_looks_add_up_to_no_more_than_alpha() {
    let spent: f64 = (1..=100_000).map(|k| 1.0 - look_confidence(ALPHA, k)).sum();
    assert!(spent < ALPHA && spent > 0.999 * ALPHA, "{spent}");
    assert!((look_confidence(ALPHA, 1) - 0.975).abs() < 1e-12);
}
