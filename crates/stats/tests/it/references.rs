//! Published values: t quantiles and p-values, Student's own data, R's examples of Holm, Anderson–Darling
//! levels. Quantiles without a source were computed with 25 digits (mpmath) from the incomplete beta
//! function.

use crate::normals::Normals;
use loadline_stats::{exponential_gaps, holm, t_interval, t_quantile, two_sided_p};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[track_caller]
fn assert_close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual} instead of {expected}");
}

#[test]
fn t_quantiles_are_those_of_the_tables() {
    let table = [
        (0.975, 1.0, 12.706_204_736_174_7),
        (0.975, 2.0, 4.302_652_729_749_46),
        (0.975, 5.0, 2.570_581_835_636_32),
        (0.975, 7.0, 2.364_624_251_592_79),
        (0.975, 11.0, 2.200_985_160_091_64),
        (0.975, 23.0, 2.068_657_610_419_05),
        (0.995, 5.0, 4.032_142_983_555_23),
        (0.9995, 1.0, 636.619_248_768_72),
        (0.975, 1000.0, 1.962_339_080_826_41),
    ];
    for (probability, degrees, expected) in table {
        assert_close(t_quantile(probability, degrees), expected, 1e-9);
        assert_close(t_quantile(1.0 - probability, degrees), -expected, 1e-9);
    }
    assert_eq!(t_quantile(0.5, 4.0), 0.0);
}

#[test]
fn t_quantiles_of_impossible_arguments_are_nan() {
    for (probability, degrees) in [(0.0, 3.0), (1.0, 3.0), (f64::NAN, 3.0), (0.9, 0.0), (0.9, f64::INFINITY)]
    {
        assert!(t_quantile(probability, degrees).is_nan(), "{probability} {degrees}");
    }
    assert!(two_sided_p(f64::NAN, 3.0).is_nan());
    assert!(two_sided_p(1.0, 0.0).is_nan());
}

#[test]
fn p_values_keep_their_digits_far_out() {
    assert_close(two_sided_p(2.0, 5.0), 0.101_939_478_829_858, 1e-10);
    assert_close(two_sided_p(-10.0, 3.0), 0.002_128_399_058_41, 1e-10);
    assert_close(two_sided_p(30.0, 23.0), 6.045_667_626_197_32e-20, 1e-9);
    assert_eq!(two_sided_p(0.0, 3.0), 1.0);
    assert_eq!(two_sided_p(f64::INFINITY, 3.0), 0.0);
}

#[test]
fn the_interval_of_students_sleep_data_is_that_of_r() {
    // R: with(sleep, t.test(extra[group == 2], extra[group == 1], paired = TRUE)); Student 1908, Cushny &
    // Peebles.
    let extra_hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
    let interval = t_interval(&extra_hours, 0.95).expect("ten figures");
    assert_close(interval.low, 0.700_114_2, 1e-6);
    assert_close(interval.high, 2.459_885_8, 1e-6);
    assert_close(two_sided_p(4.062_127_683_382_037, 9.0), 0.002_832_890_197_384_25, 1e-9);
}

#[test]
fn an_interval_needs_two_figures_and_a_confidence_between_0_and_1() {
    assert_eq!(t_interval(&[], 0.95), None);
    assert_eq!(t_interval(&[1.0], 0.95), None);
    assert_eq!(t_interval(&[1.0, 2.0], 0.0), None);
    assert_eq!(t_interval(&[1.0, 2.0], 1.0), None);
    assert_eq!(t_interval(&[1.0, 2.0], f64::NAN), None);
}

#[test]
fn holms_adjusted_p_values_are_those_of_r() {
    // R: p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm") and p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    for (raw, expected) in [
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.9, 0.001, 0.8], [1.0, 1.0, 0.004, 1.0]),
    ] {
        for (adjusted, expected) in holm(&raw).into_iter().zip(expected) {
            assert_close(adjusted, expected, 1e-12);
        }
    }
    assert_eq!(holm(&[]), Vec::<f64>::new());
    assert_eq!(holm(&[0.03]), [0.03]);
    assert_eq!(holm(&[f64::NAN, 0.02]), [1.0, 0.04]);
}

#[test]
fn the_anderson_darling_statistic_is_the_one_computed_by_hand() {
    // One gap at the median: −1 − ln ½ − ln ½. Two at the quartiles: −2 − ½ (1·2 ln ¼ + 3·2 ln ¾).
    let one = exponential_gaps(&[2.0_f64.ln()], 1.0).expect("one gap");
    assert_close(one.statistic, 2.0 * 2.0_f64.ln() - 1.0, 1e-12);
    let quartiles = [4.0_f64.ln() / 50.0, (4.0_f64 / 3.0).ln() / 50.0];
    let two = exponential_gaps(&quartiles, 50.0).expect("two gaps");
    assert_close(two.statistic, -2.0 - 0.25_f64.ln() - 3.0 * 0.75_f64.ln(), 1e-12);
}

/// The share of 10,000 samples that are rejected at the 5 % level.
fn rejected(count: usize, gap: impl Fn(f64) -> f64) -> f64 {
    let mut random = Pcg64::seed_from_u64(count as u64);
    let samples = 10_000;
    let rejected = (0..samples)
        .filter(|_| {
            let gaps: Vec<f64> = (0..count).map(|_| gap(random.random::<f64>())).collect();
            exponential_gaps(&gaps, 2_000.0).expect("finite gaps").p_value < 0.05
        })
        .count();
    rejected as f64 / f64::from(samples)
}

#[test]
fn exponential_gaps_are_rejected_at_the_level_and_others_nearly_always() {
    let exponential = |uniform: f64| -(1.0 - uniform).ln() / 2_000.0;
    for count in [5, 50] {
        let level = rejected(count, exponential);
        assert!((0.043..=0.057).contains(&level), "{count} gaps: {level}");
    }
    assert!(rejected(200, |uniform| uniform / 1_000.0) > 0.9, "uniform gaps of the same mean");
    assert!(rejected(50, |_| 1.0 / 2_000.0) == 1.0, "a metronome");
    assert!(rejected(50, |uniform| 2.0 * exponential(uniform)) > 0.9, "half the rate");
}

#[test]
fn gaps_rounded_to_zero_do_not_reject_a_schedule_unless_there_are_many() {
    let mut random = Pcg64::seed_from_u64(8_000);
    let mut gaps: Vec<f64> = (0..10_000).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
    gaps[17] = 0.0;
    assert!(exponential_gaps(&gaps, 1.0).expect("finite gaps").p_value > 0.05);
    gaps[..500].fill(0.0);
    assert!(exponential_gaps(&gaps, 1.0).expect("finite gaps").p_value < 0.001);
}

#[test]
fn impossible_gaps_and_rates_are_refused() {
    assert_eq!(exponential_gaps(&[], 1.0), None);
    assert_eq!(exponential_gaps(&[0.1, -0.1], 1.0), None);
    assert_eq!(exponential_gaps(&[f64::NAN], 1.0), None);
    assert_eq!(exponential_gaps(&[0.1], 0.0), None);
    assert_eq!(exponential_gaps(&[0.1], f64::INFINITY), None);
}

#[test]
fn simulated_normals_are_normal_enough_to_judge_intervals_by() {
    let mut normals = Normals::new(8_100);
    let draws: Vec<f64> = (0..100_000).map(|_| normals.draw()).collect();
    let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / draws.len() as f64;
    assert!((variance - 1.0).abs() < 0.02, "{variance}");
}
