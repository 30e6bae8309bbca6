//! What the hierarchical bootstrap promises, by simulation: 95 % intervals cover 93–97 % of the time for
//! normal, skewed and deployment-clustered data, and a difference that is not there is claimed in at most 2.5 % of
//! runs. The tests here simulate hundreds of runs, those of `prove` thousands, whose figures are those of
//! the docs.

use crate::normals::Normals;
use crate::runs::{Design, Model, Run, Statistic};
use loadline_stats::{Bootstrap, Interval, Judgement, Levels, Unit, bootstrap, holm, judge, t_quantile};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, Normal};

const RESAMPLES: usize = 300;

/// How many runs are simulated, and how far what so many show may be from what is promised.
#[derive(Clone, Copy)]
pub struct Extent {
    pub runs: u64,
    pub slack: f64,
}

/// Enough to see a wrong interval: two standard deviations of a share of 95 % among so many.
const HUNDREDS: Extent = Extent { runs: 200, slack: 0.03 };

impl Extent {
    fn covers(self, share: f64) -> bool {
        (0.93 - self.slack..=0.97 + self.slack).contains(&share)
    }

    fn share(self, count: u32) -> f64 {
        f64::from(count) / self.runs as f64
    }
}

/// As time in microseconds: slices differ, deployments do not.
pub const NORMAL: Model = Model {
    name: "normal",
    skewed: false,
    centres: [100.0, 105.0],
    request: 20.0,
    drift: 5.0,
    slice: 3.0,
    deployment: 0.0,
};

/// In logarithms: a request at the 99th percentile takes over three times the median, and effects multiply.
pub const SKEWED: Model = Model {
    name: "skewed",
    skewed: true,
    centres: [4.6, 4.7],
    request: 0.5,
    drift: 0.05,
    slice: 0.05,
    deployment: 0.02,
};

/// Deployments differ by more than slices do, so blocks of one deployment resemble each other.
pub const CLUSTERED: Model = Model { name: "clustered", skewed: false, deployment: 6.0, ..NORMAL };

const DESIGNS: [(usize, usize); 5] = [(8, 3), (6, 4), (12, 2), (2, 12), (1, 24)];

fn design((deployments, blocks): (usize, usize)) -> Design {
    Design { deployments, blocks }
}

/// The share of runs whose interval holds the true difference.
fn coverage(model: &Model, design: Design, seed: u64, extent: Extent) -> [f64; 3] {
    let mut normals = Normals::new(seed);
    let mut covered = [0_u32; 3];
    for replication in 0..extent.runs {
        let run = Run::simulate(model, design, &mut normals);
        for (covered, statistic) in covered.iter_mut().zip(Statistic::ALL) {
            let result =
                bootstrap(design.units(), RESAMPLES, replication, |counts| run.difference(counts, statistic))
                    .expect("two units or more, and finite figures");
            *covered += u32::from(result.interval(0.95).contains(run.true_difference(statistic)));
        }
    }
    covered.map(|covered| extent.share(covered))
}

/// The least and the largest share of any design and statistic.
pub fn intervals_cover(model: &Model, seed: u64, extent: Extent) -> [f64; 2] {
    let mut all = Vec::new();
    for (index, sizes) in DESIGNS.into_iter().enumerate() {
        let shares = coverage(model, design(sizes), seed + index as u64, extent);
        let [mean, p50, p90] = shares.map(|share| 100.0 * share);
        let (name, (deployments, blocks)) = (model.name, sizes);
        println!("{name:>9}  {deployments:2} × {blocks:2}  mean {mean:.1} %  p50 {p50:.1} %  p90 {p90:.1} %");
        for (share, statistic) in shares.into_iter().zip(Statistic::ALL) {
            assert!(extent.covers(share), "{name} {sizes:?} {statistic:?}: {share}");
            all.push(share);
        }
    }
    [all.iter().copied().fold(1.0, f64::min), all.iter().copied().fold(0.0, f64::max)]
}

#[test]
fn intervals_cover_for_normal_data() {
    intervals_cover(&NORMAL, 1_000, HUNDREDS);
}

#[test]
fn intervals_cover_for_skewed_data() {
    intervals_cover(&SKEWED, 2_000, HUNDREDS);
}

#[test]
fn intervals_cover_for_deployment_clustered_data() {
    intervals_cover(&CLUSTERED, 3_000, HUNDREDS);
}

#[test]
fn blocks_of_one_deployment_say_nothing_of_other_deployments() {
    of_one_deployment(HUNDREDS);
}

/// How often the interval of one deployment holds the difference over all of them: seldom.
pub fn of_one_deployment(extent: Extent) -> f64 {
    let mut normals = Normals::new(4_000);
    let expected = CLUSTERED.centres[1] - CLUSTERED.centres[0];
    let one = design((1, 24));
    assert_eq!(Unit::highest_replicated(1), Unit::Block);
    let covered = (0..extent.runs)
        .filter(|replication| {
            let run = Run::simulate(&CLUSTERED, one, &mut normals);
            let result = bootstrap(one.units(), RESAMPLES, *replication, |counts| {
                run.difference(counts, Statistic::Mean)
            });
            result.expect("24 blocks").interval(0.95).contains(expected)
        })
        .count();
    let share = extent.share(covered as u32);
    println!("clustered   1 × 24  mean, of the difference over all deployments: {:.1} %", 100.0 * share);
    assert!(share < 0.5, "one deployment must not pass for a sample of them: {share}");
    share
}

/// The middle of the resampled statistics that leaves out the share `tail` at either end.
fn percentile_interval(resampled: &mut [f64], tail: f64) -> Interval {
    resampled.sort_by(f64::total_cmp);
    let skipped = ((resampled.len() - 1) as f64 * tail).round() as usize;
    Interval { low: resampled[skipped], high: resampled[resampled.len() - 1 - skipped] }
}

#[test]
fn percentile_intervals_cover_too_seldom_with_few_deployments() {
    // Their shares are close to each other: hundreds cannot distinguish them.
    percentile_intervals(Extent { runs: 1_000, slack: 0.0 });
}

/// Student's t, the expanded percentile and the plain one beside each other. The shares of the plain one, the least and the largest.
pub fn percentile_intervals(extent: Extent) -> [f64; 2] {
    let mut all = Vec::new();
    for (index, sizes) in [(2, 12), (6, 4), (8, 3), (12, 2)].into_iter().enumerate() {
        let units = sizes.0 as f64;
        let t = t_quantile(0.975, units - 1.0);
        // Hesterberg 2015: the levels of percentiles that are as far out as t is.
        let expanded_tail = Normal::standard().cdf(-t * (units / (units - 1.0)).sqrt());
        let mut normals = Normals::new(5_100 + index as u64);
        let mut covered = [0_u32; 3];
        for replication in 0..extent.runs {
            let run = Run::simulate(&CLUSTERED, design(sizes), &mut normals);
            let truth = run.true_difference(Statistic::Mean);
            let ours =
                bootstrap(sizes.0, RESAMPLES, replication, |counts| run.difference(counts, Statistic::Mean));
            let mut random = Pcg64::seed_from_u64(replication);
            let mut resampled: Vec<f64> = (0..RESAMPLES)
                .map(|_| {
                    let mut counts = vec![0; sizes.0];
                    (0..sizes.0).for_each(|_| counts[random.random_range(0..sizes.0)] += 1);
                    run.difference(&counts, Statistic::Mean)
                })
                .collect();
            let intervals = [
                ours.expect("two units or more").interval(0.95),
                percentile_interval(&mut resampled, expanded_tail),
                percentile_interval(&mut resampled, 0.025),
            ];
            for (covered, interval) in covered.iter_mut().zip(intervals) {
                *covered += u32::from(interval.contains(truth));
            }
        }
        let [ours, expanded, plain] = covered.map(|covered| extent.share(covered));
        println!(
            "clustered  {:2} × {:2}  mean, t {:.1} %  expanded percentile {:.1} %  plain percentile {:.1} %",
            sizes.0,
            sizes.1,
            100.0 * ours,
            100.0 * expanded,
            100.0 * plain
        );
        assert!(plain <= expanded && plain < 0.93 + extent.slack && expanded < ours, "{sizes:?}");
        all.push(plain);
    }
    [all.iter().copied().fold(1.0, f64::min), all.iter().copied().fold(0.0, f64::max)]
}

#[test]
fn an_upper_quantile_that_hangs_on_one_or_two_deployments_is_covered_less_often() {
    upper_quantile_far_apart(HUNDREDS);
}

/// How often the 90th percentile is covered where deployments lie far apart.
pub fn upper_quantile_far_apart(extent: Extent) -> f64 {
    let apart = Model { name: "far apart", deployment: 30.0, ..CLUSTERED };
    let [mean, p50, p90] = coverage(&apart, design((8, 3)), 5_200, extent);
    println!(
        "far apart   8 ×  3  mean {:.1} %  p50 {:.1} %  p90 {:.1} %",
        100.0 * mean,
        100.0 * p50,
        100.0 * p90
    );
    assert!(extent.covers(mean) && extent.covers(p50), "{mean} {p50}");
    let named = 0.87 - extent.slack..0.93 + extent.slack;
    assert!(named.contains(&p90), "the limit that the documentation names: {p90}");
    p90
}

#[test]
fn resampling_blocks_within_resampled_deployments_covers_too_often() {
    both_levels_resampled(HUNDREDS);
}

/// How often the interval covers whose blocks are resampled within resampled deployments: too often.
pub fn both_levels_resampled(extent: Extent) -> f64 {
    let sizes = design((6, 4));
    let mut normals = Normals::new(5_000);
    let mut random = Pcg64::seed_from_u64(5_001);
    let mut covered = 0;
    for replication in 0..extent.runs {
        let run = Run::simulate_by_slice(&NORMAL, sizes, &mut normals);
        let mut slices = vec![0; sizes.deployments * sizes.blocks];
        let result = bootstrap(sizes.deployments, RESAMPLES, replication, |deployments| {
            // The estimate asks for every deployment once: it gets every slice once.
            let estimate = deployments.iter().all(|count| *count == 1);
            slices.fill(u32::from(estimate));
            for (deployment, count) in deployments.iter().enumerate().filter(|_| !estimate) {
                for _ in 0..*count as usize * sizes.blocks {
                    slices[deployment * sizes.blocks + random.random_range(0..sizes.blocks)] += 1;
                }
            }
            run.difference(&slices, Statistic::Mean)
        });
        let truth = run.true_difference(Statistic::Mean);
        covered += u32::from(result.expect("six deployments").interval(0.95).contains(truth));
    }
    let share = extent.share(covered);
    println!("   normal   6 ×  4  mean, both levels resampled: {:.1} %", 100.0 * share);
    assert!(share > 0.98 - extent.slack / 3.0, "twice-counted block variance should over-cover: {share}");
    share
}

#[test]
fn a_difference_that_is_not_there_is_found_in_at_most_one_of_forty_runs() {
    found_without_a_difference(HUNDREDS);
}

/// The largest share of runs, of any design, that find a difference where there is none.
pub fn found_without_a_difference(extent: Extent) -> f64 {
    let levels = Levels::DEFAULT;
    let mut most = 0.0;
    for (index, sizes) in [(8, 3), (6, 4), (2, 12), (1, 24)].into_iter().enumerate() {
        let same = Model { centres: [100.0, 100.0], ..CLUSTERED };
        // A second deployment differs in truth when there is only one of each: only equal ones are no
        // difference.
        let same = if sizes.0 == 1 { Model { deployment: 0.0, ..same } } else { same };
        let mut normals = Normals::new(6_000 + index as u64);
        let (mut any, mut single) = (0, 0);
        for replication in 0..extent.runs {
            let run = Run::simulate(&same, design(sizes), &mut normals);
            let results = Statistic::ALL.map(|statistic| {
                bootstrap(design(sizes).units(), RESAMPLES, replication, |counts| {
                    run.difference(counts, statistic)
                })
                .expect("two units or more, and finite figures")
            });
            let raw = results.map(|result| result.p_value());
            let found = |result: &Bootstrap, p| {
                // No margin at all: the hardest case, in which nothing can be called equivalent.
                let judgement = judge(result.estimate, p, 1.0, levels, sizes.0 * sizes.1);
                matches!(judgement, Judgement::Higher | Judgement::Lower)
            };
            any += u32::from(results.iter().zip(holm(&raw)).any(|(result, p)| found(result, p)));
            single += u32::from(found(&results[1], raw[1]));
        }
        let [any, single] = [any, single].map(|count| extent.share(count));
        let (deployments, blocks) = sizes;
        println!(
            "no difference  {deployments:2} × {blocks:2}  any of three after Holm {:.1} %  p50 alone {:.1} %",
            100.0 * any,
            100.0 * single
        );
        assert!(any <= levels.difference + extent.slack, "{sizes:?}: {any}");
        most = f64::max(most, any);
    }
    most
}
