//! A real service that stalls for 2 ms once a second, beside one that does not: the differences are what arithmetic says, and no stall is
//! measured again.

use std::time::Duration;

use loadline_model::CellId;
use loadline_model::result::{Contrast, RunResult};

use super::median;
use crate::disturbance::assert_repeats_are_of_the_machine;
use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;

/// So many runs are measured, whatever they find.
const RUNS: usize = 10;
/// Of 10 intervals that each hold the truth with a chance of 95 %, more than two miss it in one of 87 cases.
const MOST_MISSED: usize = 2;

const STALL: Duration = Duration::from_millis(2);
const EVERY: Duration = Duration::from_secs(1);

const EXPERIMENT: &str = "
name: stalls
services:
  - {name: steady, builtin: orders}
  - {name: stalling, builtin: orders, args: [--stall, 2ms/1s]}
platforms: [host]
loads:
  - {rate: 1000/s, connections: 8}
plan: {slice: 50ms, blocks: 50, deployments: 6}
";

#[test]
fn a_service_that_stalls_differs_by_what_arithmetic_says() {
    let place = Place::alone();
    place.write("stalls.yaml", EXPERIMENT);
    let (mut mean, mut tail, mut repeated) = (Seen::default(), Seen::default(), 0);
    for _ in 0..RUNS {
        let ended = place.run(["run", "stalls.yaml", "--json", "-"]);
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let result = ended.result();
        assert_repeats_are_of_the_machine(&result);
        repeated += result.trust.repeats.disturbed;
        mean.add(&result.contrasts[0], "response.mean", expected_mean_ns());
        tail.add(&result.contrasts[0], "response.p99.9", expected_tail_ns(&result));
    }
    let row = |figure: &str, seen: &Seen| Row {
        what: format!(
            "a service stalls for 2 ms once a second: intervals of {figure} hold what arithmetic says"
        ),
        expected: format!("{:.1} µs; ≥ 93 %, by chance all but {MOST_MISSED}", seen.expected_us()),
        found: format!("{:.1} µs, in {} of {}", seen.found_us(), seen.held, seen.claimed),
        interval: format!("{RUNS} runs, {repeated} blocks disturbed at first"),
        holds: seen.claimed >= RUNS / 2 && seen.claimed - seen.held <= MOST_MISSED,
    };
    prove(&[row("the mean", &mean), row("p99.9", &tail)]);
}

/// What the runs found of one metric.
#[derive(Default)]
struct Seen {
    found_ns: Vec<f64>,
    expected_ns: Vec<f64>,
    /// Runs with an interval.
    claimed: usize,
    /// Runs whose interval holds what was expected.
    held: usize,
}

impl Seen {
    fn add(&mut self, contrast: &Contrast, metric: &str, expected_ns: f64) {
        let row = contrast.rows.iter().find(|row| row.metric == metric).expect("a row of each metric");
        println!("{metric}: {} {:?}, expected {expected_ns}", row.difference, row.interval);
        self.found_ns.push(row.difference);
        self.expected_ns.push(expected_ns);
        self.claimed += usize::from(row.interval.is_some());
        self.held += usize::from(row.interval.is_some_and(|[low, high]| (low..=high).contains(&expected_ns)));
    }

    fn found_us(&self) -> f64 {
        median(&self.found_ns) / 1e3
    }

    fn expected_us(&self) -> f64 {
        median(&self.expected_ns) / 1e3
    }
}

/// The share of the requests that are due in a stall.
fn share_stalled() -> f64 {
    STALL.as_secs_f64() / EVERY.as_secs_f64()
}

/// These wait for half of the stall on average.
fn expected_mean_ns() -> f64 {
    share_stalled() * STALL.as_secs_f64() * 1e9 / 2.0
}

/// By how much p99.9 rises if some requests of the steady service had waited for what is left of a stall, which is uniform.
fn expected_tail_ns(result: &RunResult) -> f64 {
    let contrast = &result.contrasts[0];
    let response = |cell: CellId| result.cells[cell].histograms.response_times().expect("a histogram");
    let mut steady = response(contrast.baseline);
    steady.add(response(contrast.twin.expect("a twin"))).expect("the same range");
    let stall_ns = STALL.as_secs_f64() * 1e9;
    let beyond = |time_ns: f64| {
        let share = steady.iter_recorded().map(|step| {
            let usual_ns = step.value_iterated_to() as f64;
            let stalled = ((usual_ns + stall_ns - time_ns) / stall_ns).clamp(0.0, 1.0);
            let still = if usual_ns > time_ns { 1.0 } else { 0.0 };
            step.count_at_value() as f64 * (share_stalled() * stalled + (1.0 - share_stalled()) * still)
        });
        share.sum::<f64>() / steady.len() as f64
    };
    let (mut low, mut high) = (0.0, steady.max() as f64 + stall_ns);
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > 0.001 { low = middle } else { high = middle }
    }
    high - contrast.rows.iter().find(|row| row.metric == "response.p99.9").expect("a row").baseline
}
