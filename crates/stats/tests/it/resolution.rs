//! What is told beforehand of a comparison, from the variances of an earlier one: against published figures, and by simulation.

use crate::normals::Normals;
use loadline_stats::{
    Levels, VarianceComponents, correlation_of_ranks, detectable_difference, ranks, t_interval,
    variance_components,
};

/// Calcium in turnip leaves, four determinations of each leaf (Snedecor & Cochran, "Statistical Methods", chapter on one-way classifications): mean
/// squares 0.2961 between and 0.0066 within.
#[test]
fn published_variances_are_found() {
    let leaves = [
        vec![3.28, 3.09, 3.03, 3.03],
        vec![3.52, 3.48, 3.38, 3.38],
        vec![2.88, 2.80, 2.81, 2.76],
        vec![3.34, 3.38, 3.23, 3.26],
    ];
    let VarianceComponents { between, within } = variance_components(&leaves).unwrap();
    assert!((within - 0.0066).abs() < 0.00005 && (between - 0.0724).abs() < 0.0001, "{between} {within}");
}

#[test]
fn groups_that_differ_by_less_than_their_figures_do_not_differ() {
    let found = variance_components(&[vec![1.0, 3.0], vec![3.0, 1.0]]).unwrap();
    assert_eq!((found.between, found.within), (0.0, 4.0 / 3.0));
    for too_few in [&[][..], &[vec![1.0, 2.0]], &[vec![1.0], vec![2.0]], &[vec![1.0, f64::NAN], vec![2.0]]] {
        assert_eq!(variance_components(too_few), None);
    }
}

/// Deployments of blocks, each with the difference that was seen in it.
fn simulate(
    normals: &mut Normals,
    truth: VarianceComponents,
    deployments: usize,
    blocks: usize,
) -> Vec<Vec<f64>> {
    let mut deployment = || {
        let own = truth.between.sqrt() * normals.draw();
        (0..blocks).map(|_| own + truth.within.sqrt() * normals.draw()).collect()
    };
    (0..deployments).map(|_| deployment()).collect()
}

fn is_found(run: &[Vec<f64>], difference: f64) -> bool {
    let means: Vec<f64> =
        run.iter().map(|blocks| difference + blocks.iter().sum::<f64>() / blocks.len() as f64).collect();
    t_interval(&means, 1.0 - Levels::DEFAULT.difference).is_some_and(|interval| !interval.contains(0.0))
}

const TRUTHS: [VarianceComponents; 3] = [
    VarianceComponents { between: 0.0, within: 9.0 },
    VarianceComponents { between: 1.0, within: 9.0 },
    VarianceComponents { between: 4.0, within: 1.0 },
];

#[test]
fn a_difference_of_the_predicted_size_is_claimed_in_95_of_100_runs() {
    const RUNS: u32 = 2000;
    for (seed, truth) in TRUTHS.into_iter().enumerate() {
        for (deployments, blocks) in [(4, 36), (8, 10), (40, 3)] {
            let mut normals = Normals::new(seed as u64);
            let error = truth.standard_error(deployments as f64, blocks as f64);
            let difference = detectable_difference(error, deployments as f64 - 1.0);
            let found = (0..RUNS)
                .filter(|_| is_found(&simulate(&mut normals, truth, deployments, blocks), difference))
                .count();
            let power = found as f64 / f64::from(RUNS);
            assert!((0.93..=0.98).contains(&power), "{truth:?}, {deployments} × {blocks}: {power}");
        }
    }
}

/// What one short run says of a long one is right on average, and seldom off by more than half.
#[test]
fn a_short_run_predicts_a_long_one() {
    const RUNS: usize = 500;
    for (seed, truth) in TRUTHS.into_iter().enumerate() {
        let mut normals = Normals::new(10 + seed as u64);
        let wanted = truth.standard_error(40.0, 36.0);
        let mut ratios: Vec<f64> = (0..RUNS)
            .filter_map(|_| variance_components(&simulate(&mut normals, truth, 8, 12)))
            .map(|found| found.standard_error(40.0, 36.0) / wanted)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[(share * (RUNS - 1) as f64) as usize];
        assert!((0.85..=1.15).contains(&at(0.5)), "{truth:?}: {}", at(0.5));
        assert!(at(0.1) > 0.45 && at(0.9) < 1.9, "{truth:?}: {} to {}", at(0.1), at(0.9));
    }
}

#[test]
fn ranks_share_what_equal_figures_have_between_them() {
    assert_eq!(ranks(&[30.0, 10.0, 20.0, 20.0]), [4.0, 1.0, 2.5, 2.5]);
    assert!(ranks(&[]).is_empty());
}

#[test]
fn what_rises_together_correlates_however_it_rises() {
    let (one, other) = (ranks(&[1.0, 2.0, 3.0, 4.0]), ranks(&[1.0, 10.0, 100.0, 1e9]));
    let falling: Vec<f64> = one.iter().rev().copied().collect();
    let each = |series: &[f64]| correlation_of_ranks(&one, series, (0..4).map(|index| (index, index)));
    assert!((each(&other).unwrap() - 1.0).abs() < 1e-12 && (each(&falling).unwrap() + 1.0).abs() < 1e-12);
    assert_eq!(correlation_of_ranks(&one, &[2.5; 4], [(0, 0)]), None);
    assert_eq!(correlation_of_ranks(&one, &other, []), None);
}

/// The correlation of neighbours in a first-order autoregressive series is its coefficient; ranks of normal figures show
/// 6/π · asin(r/2) of it (Pearson 1907).
#[test]
fn neighbours_in_a_series_show_its_correlation() {
    let (mut normals, coefficient) = (Normals::new(3), 0.5_f64);
    let mut series = vec![0.0_f64];
    for _ in 0..20_000 {
        let last = series[series.len() - 1];
        series.push(coefficient * last + (1.0 - coefficient * coefficient).sqrt() * normals.draw());
    }
    let ranked = ranks(&series);
    let pairs = (1..series.len()).map(|index| (index - 1, index));
    let found = correlation_of_ranks(&ranked, &ranked, pairs).unwrap();
    let expected = 6.0 / std::f64::consts::PI * (coefficient / 2.0).asin();
    assert!((found - expected).abs() < 0.02, "{found} {expected}");
}
