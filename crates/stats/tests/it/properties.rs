//! Properties that hold for any data: estimates inside their intervals, order, and what shifting, scaling and
//! reordering must not change.

use loadline_stats::{Bootstrap, Unit, bootstrap, holm, t_interval};
use proptest::prelude::*;

fn figures() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1e6..1e6_f64, 2..20)
}

fn weighted_mean(figures: &[f64], counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    figures.iter().zip(counts).map(|(figure, count)| figure * f64::from(*count)).sum::<f64>()
        / f64::from(total)
}

fn bootstrap_mean(figures: &[f64]) -> Bootstrap {
    bootstrap(figures.len(), 200, 7, |counts| weighted_mean(figures, counts)).expect("two figures or more")
}

/// Equal but for rounding, at the size of the figures that the numbers were computed from.
fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-6 * size.max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_interval_holds_its_estimate_and_widens_with_confidence(
        figures in figures(),
        confidence in 0.01..0.98_f64,
    ) {
        let result = bootstrap_mean(&figures);
        let levels = [confidence, confidence + 0.01];
        let student = levels.map(|level| t_interval(&figures, level).expect("two figures or more"));
        let ours = levels.map(|level| result.interval(level));
        for [narrow, wide] in [student, ours] {
            prop_assert!(narrow.low <= narrow.high && narrow.contains(result.estimate));
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
    }

    #[test]
    fn intervals_move_and_stretch_with_the_data(
        figures in figures(),
        shift in -1e6..1e6_f64,
        scale in 0.001..1e3_f64,
    ) {
        let moved: Vec<f64> = figures.iter().map(|figure| shift + scale * figure).collect();
        let student = |figures: &[f64]| t_interval(figures, 0.95).expect("two figures or more");
        let ours = |figures: &[f64]| bootstrap_mean(figures).interval(0.95);
        let pairs = [(student(&figures), student(&moved)), (ours(&figures), ours(&moved))];
        for (plain, moved) in pairs {
            prop_assert!(close(moved.low, shift + scale * plain.low, 1e6 * (1.0 + scale)));
            prop_assert!(close(moved.high, shift + scale * plain.high, 1e6 * (1.0 + scale)));
        }
    }

    #[test]
    fn the_p_value_is_below_alpha_exactly_where_the_interval_leaves_out_zero(
        figures in prop::collection::vec(-1.0..2.0_f64, 2..20),
        alpha in 0.001..0.5_f64,
    ) {
        let result = bootstrap_mean(&figures);
        // At equality rounding decides.
        prop_assume!((result.p_value() - alpha).abs() > 1e-9);
        prop_assert_eq!(result.p_value() < alpha, !result.interval(1.0 - alpha).contains(0.0));
    }

    #[test]
    fn every_sample_has_as_many_units_as_the_run(units in 3..30_usize, seed in any::<u64>()) {
        let mut samples = Vec::new();
        let recorded = bootstrap(units, 20, seed, |counts| { samples.push(counts.to_vec()); 0.0 });
        prop_assert!(recorded.is_some());
        prop_assert_eq!(samples.len(), 21);
        prop_assert_eq!(&samples[0], &vec![1; units]);
        for sample in &samples {
            prop_assert_eq!(sample.iter().sum::<u32>() as usize, units);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_samples_and_another_seed_others(units in 3..20_usize, seed in any::<u64>()) {
        let samples = |seed| {
            let mut samples = Vec::new();
            bootstrap(units, 50, seed, |counts| { samples.push(counts.to_vec()); 0.0 });
            samples
        };
        prop_assert_eq!(samples(seed), samples(seed));
        prop_assert_ne!(samples(seed), samples(seed ^ 1));
    }

    #[test]
    fn holm_never_lowers_a_p_value_and_keeps_their_order(raw in prop::collection::vec(0.0..=1.0_f64, 0..12)) {
        let adjusted = holm(&raw);
        prop_assert_eq!(adjusted.len(), raw.len());
        for (raw_a, adjusted_a) in raw.iter().zip(&adjusted) {
            prop_assert!(adjusted_a >= raw_a && *adjusted_a <= 1.0);
            for (raw_b, adjusted_b) in raw.iter().zip(&adjusted) {
                prop_assert!(raw_a > raw_b || adjusted_a <= adjusted_b);
            }
        }
    }

    #[test]
    fn holm_rejects_at_least_what_bonferroni_does(raw in prop::collection::vec(0.0..=1.0_f64, 1..12)) {
        let count = raw.len() as f64;
        for (raw, adjusted) in raw.iter().zip(holm(&raw)) {
            prop_assert!(raw * count >= 0.05 || adjusted < 0.05);
        }
    }
}

#[test]
fn the_bootstrap_of_a_mean_is_students_interval_but_for_resampling_noise() {
    let figures = [3.1, 2.7, 4.4, 3.9, 2.2, 3.3, 5.0, 3.6];
    let many =
        bootstrap(figures.len(), 100_000, 1, |counts| weighted_mean(&figures, counts)).expect("eight units");
    let student = t_interval(&figures, 0.95).expect("eight figures");
    assert!((many.interval(0.95).half_width() / student.half_width() - 1.0).abs() < 0.02);
}

#[test]
fn the_bootstrap_of_two_means_is_students_interval_exactly() {
    let figures = [3.1, 2.7];
    let two =
        bootstrap(2, 100, 1, |counts| weighted_mean(&figures, counts)).expect("two units").interval(0.95);
    let student = t_interval(&figures, 0.95).expect("two figures");
    assert!((two.low - student.low).abs() < 1e-12 && (two.high - student.high).abs() < 1e-12);
}

#[test]
fn data_that_never_vary_get_a_point_and_a_certain_p_value() {
    let always = |value| bootstrap(5, 100, 3, |_| value).expect("five units");
    assert_eq!(always(2.0).interval(0.95).half_width(), 0.0);
    assert_eq!(always(2.0).p_value(), 0.0);
    assert_eq!(always(0.0).p_value(), 1.0);
}

#[test]
fn too_little_to_resample_and_figures_that_are_no_numbers_give_nothing() {
    assert_eq!(bootstrap(1, 100, 0, |_| 1.0), None);
    assert_eq!(bootstrap(5, 1, 0, |_| 1.0), None);
    assert_eq!(bootstrap(5, 100, 0, |_| f64::NAN), None);
    assert_eq!(bootstrap(5, 100, 0, |counts| if counts[0] == 0 { f64::NAN } else { 1.0 }), None);
}

#[test]
fn deployments_are_resampled_as_soon_as_there_are_two() {
    assert_eq!(Unit::highest_replicated(1), Unit::Block);
    assert_eq!(Unit::highest_replicated(2), Unit::Deployment);
}
