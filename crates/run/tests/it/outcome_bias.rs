//! Whether measuring again selects by the outcome: whole runs in which the machine pauses at random, or a service stalls by itself, through the
//! gates, the store and the analysis.

use std::time::Duration;

use loadline_model::experiment::PlanSpec;
use loadline_model::result::RunResult;

use crate::fake::{RandomDelays, World, with_candidates};

const RUNS: u64 = 30;
const SLOWER: Duration = Duration::from_micros(5);

/// A run of the host, its twin and the candidates, with these delays of each.
fn run(seed: u64, delays: &[RandomDelays]) -> World {
    let cells = delays.len();
    let plan = |plan: &mut PlanSpec| (plan.deployments, plan.blocks, plan.repeats) = (8, 3, 2);
    let mut world = World::new(with_candidates(cells - 2, plan));
    for (site, delays) in delays.iter().enumerate() {
        let seed = (seed * cells as u64 + site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        world = world.site(site, |site| site.delays = Some(RandomDelays { seed, ..*delays }));
    }
    world.run().unwrap();
    world
}

/// The difference of a metric in µs, and whether its interval, if it has one, holds the truth.
fn difference(result: &RunResult, metric: &str, truth_us: f64) -> (f64, Option<bool>) {
    let row = result.contrasts[0].rows.iter().find(|row| row.metric == metric).unwrap();
    let holds = row.interval.map(|[low, high]| (low..=high).contains(&(truth_us * 1e3)));
    (row.difference / 1e3, holds)
}

/// The mean of some differences lies within four of its standard errors of the truth, or within 0.1 µs.
fn is_unbiased(differences: &[f64], truth_us: f64) -> bool {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - truth_us).abs() <= (4.0 * (variance / n).sqrt()).max(0.1)
}

/// What runs found in which the machine pauses for 20 ms once a second, whatever is measured.
pub struct Paused {
    results: Vec<RunResult>,
}

/// A metric of them: whose differences are what they are without pauses.
pub struct Bias {
    /// Intervals that hold the truth.
    pub held: usize,
    /// Runs that claim something: of a mean or tail that hangs on a block which was disturbed in each attempt, nothing is claimed.
    pub claimed: usize,
    pub is_unbiased: bool,
}

/// So many runs, of so many candidates, all of which are slower by the same.
pub fn paused(runs: u64, candidates: usize) -> Paused {
    let host = RandomDelays { pauses: (Duration::from_millis(20), 1.0), ..RandomDelays::default() };
    let slower = RandomDelays { slower: SLOWER, ..host };
    let delays: Vec<RandomDelays> =
        [host; 2].into_iter().chain(std::iter::repeat_n(slower, candidates)).collect();
    Paused { results: (0..runs).map(|seed| run(seed, &delays).result()).collect() }
}

impl Paused {
    pub fn bias(&self, metric: &str) -> Bias {
        let found: Vec<(f64, Option<bool>)> =
            self.results.iter().map(|result| difference(result, metric, 5.0)).collect();
        let differences: Vec<f64> = found.iter().map(|found| found.0).collect();
        let holds: Vec<bool> = found.iter().filter_map(|found| found.1).collect();
        Bias {
            held: holds.iter().filter(|holds| **holds).count(),
            claimed: holds.len(),
            is_unbiased: is_unbiased(&differences, 5.0),
        }
    }
}

#[test]
fn pauses_of_the_machine_leave_every_difference_as_it_is() {
    let paused = paused(RUNS, 1);
    for metric in ["response.p50", "response.mean", "response.p99"] {
        let Bias { held, claimed, is_unbiased } = paused.bias(metric);
        assert!(is_unbiased, "{metric}");
        assert!(held * 100 >= claimed * 85, "{metric}: {held} of {claimed} intervals hold the truth");
        let least = if metric == "response.p50" { RUNS } else { RUNS / 3 };
        assert!(claimed as u64 >= least, "{metric}: {claimed} of {RUNS} claim something");
    }
    let results = &paused.results;
    let disturbed: usize = results.iter().map(|result| result.trust.repeats.disturbed).sum();
    let blocks: usize = results.iter().map(|result| result.trust.repeats.blocks).sum();
    let share = disturbed as f64 / blocks as f64;
    assert!((0.22..0.32).contains(&share), "1 − 0.9³ of the blocks are disturbed: {share}");
    let differ =
        results.iter().filter(|result| result.trust.repeats.loads.iter().any(|load| load.differ)).count();
    assert!(differ <= 2, "all cells alike, but {differ} of {RUNS} say otherwise");
}

#[test]
fn a_service_that_stalls_keeps_its_stalls() {
    // Of 2,000 requests a second the 4 that are due in the 2 ms wait 1 ms on average: 2 µs each.
    let stalling = RandomDelays { stalls: (Duration::from_millis(2), 1.0), ..RandomDelays::default() };
    let still = RandomDelays::default();
    let mut means = Vec::new();
    for seed in 0..RUNS {
        let world = run(seed, &[still, still, stalling]);
        assert!(world.journal.slices.borrow().iter().all(|slice| slice.attempt == 0));
        means.push(difference(&world.result(), "response.mean", 2.0).0);
    }
    assert!(is_unbiased(&means, 2.0), "{means:?}");
}

#[test]
fn a_service_that_stalls_is_not_cleaned_of_it_by_pauses_of_the_machine() {
    let still = RandomDelays { pauses: (Duration::from_millis(20), 1.0), ..RandomDelays::default() };
    let stalling = RandomDelays { stalls: (Duration::from_millis(2), 1.0), ..still };
    let stalls = |world: &World| {
        let slices = world.journal.slices.borrow();
        let stalled = slices.iter().filter(|slice| slice.cell.0 == 2 && slice.service.max() > 150_000);
        let of_cell = slices.iter().filter(|slice| slice.cell.0 == 2).count();
        (stalled.count(), of_cell)
    };
    let (stalled, all) = (0..RUNS)
        .map(|seed| stalls(&run(seed, &[still, still, stalling])))
        .fold((0, 0), |(stalled, all), (these, of)| (stalled + these, all + of));
    let share = stalled as f64 / all as f64;
    assert!((0.07..0.13).contains(&share), "a stall in each tenth slice, first attempts or not: {share}");
}
