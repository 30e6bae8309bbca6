//! What the interval covers that ends a run by being narrow enough, by simulation: 4,000 runs for each width; `prove` makes it 40,000.

use crate::normals::Normals;
use loadline_stats::{LOOK_CONFIDENCE, look_sizes, t_interval};

const THOUSANDS: u32 = 4_000;
const MAX_DEPLOYMENTS: usize = 130;
/// As many deployments as a run needs on average that ends by its width.
const EXPECTED_DEPLOYMENTS: [f64; 6] = [6.0, 8.0, 10.0, 14.0, 28.0, 60.0];
/// Standard deviation of a deployment in a loud spell, and the share of those.
const LOUD: (f64, f64) = (5.0, 0.05);

/// The smallest share of runs, over all widths, whose last interval holds the truth (zero).
fn least_covered(first: usize, confidence: f64, loud: bool, runs: u32) -> f64 {
    let looks: Vec<usize> = look_sizes(first).take_while(|size| *size <= MAX_DEPLOYMENTS).collect();
    let spread = if loud { (1.0 - LOUD.1 + LOUD.1 * LOUD.0 * LOUD.0).sqrt() } else { 1.0 };
    let covered = |(index, expected): (usize, f64)| {
        let narrow_enough = 1.96 * spread / expected.sqrt();
        let mut normals = Normals::new(7_000 + index as u64);
        let holds = |_: &u32| {
            let mut differences = Vec::with_capacity(MAX_DEPLOYMENTS);
            let last = looks.iter().find_map(|size| {
                differences.resize_with(*size, || deployment(&mut normals, loud));
                let interval = t_interval(&differences, confidence).expect("two or more");
                let ends = interval.half_width() <= narrow_enough || looks.last() == Some(size);
                ends.then_some(interval)
            });
            last.is_some_and(|interval| interval.contains(0.0))
        };
        f64::from((0..runs).filter(holds).count() as u32) / f64::from(runs)
    };
    EXPECTED_DEPLOYMENTS.into_iter().enumerate().map(covered).fold(1.0, f64::min)
}

fn deployment(normals: &mut Normals, loud: bool) -> f64 {
    let scale = if loud && normals.uniform() < LOUD.1 { LOUD.0 } else { 1.0 };
    scale * normals.draw()
}

#[test]
fn a_run_that_ends_by_its_width_covers_what_it_says() {
    let least = at_look_confidence(THOUSANDS);
    // Of 4,000 runs the worst of twelve shares lies a percentage point below the truth now and then.
    assert!(least > 0.935, "{least}");
}

/// The least covered at [`LOOK_CONFIDENCE`], of several first looks, quiet and with loud spells.
pub fn at_look_confidence(runs: u32) -> f64 {
    let mut least = 1.0;
    for (first, loud) in [(2, false), (8, false), (8, true)] {
        let covered = least_covered(first, LOOK_CONFIDENCE, loud, runs);
        println!("first look {first}, loud: {loud}: at least {:.1} % covered", 100.0 * covered);
        least = f64::min(least, covered);
    }
    least
}

#[test]
fn plain_intervals_cover_less() {
    let least = at_plain_confidence(THOUSANDS);
    assert!(least < 0.942, "the correction would be for nothing: {least}");
}

/// The same with 95 % intervals.
pub fn at_plain_confidence(runs: u32) -> f64 {
    least_covered(8, 0.95, false, runs)
}

#[test]
fn looks_start_at_the_first_size_or_six_and_are_spaced_by_at_least_1_3() {
    let sizes: Vec<usize> = look_sizes(6).take(8).collect();
    assert_eq!(sizes, [6, 8, 11, 15, 20, 26, 34, 45]);
    assert_eq!(look_sizes(2).next(), Some(6), "not on the spread of two");
    assert_eq!(look_sizes(10).nth(1), Some(13), "rounded up from exactly 13, not from a little more");
    assert!(look_sizes(6).count() > 100, "ends only by overflow");
}
