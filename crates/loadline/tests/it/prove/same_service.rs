//! A service compared with itself: nothing is claimed, whether the machine is left alone or a real-time program takes its CPUs.

use std::time::Duration;

use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;
use loadline_model::result::{self, RunResult, Verdict};
use loadline_test_support::CpuTaker;

/// Runs of 20 s that are left alone.
const RUNS: usize = 60;
/// Of 60 runs that each claim with a chance of 2.5 %, more than five do so in one of 200 cases.
const MOST_BY_CHANCE: usize = 5;
const CLAIMED: [&str; 5] = ["response.p50", "response.p99", "response.p99.9", "response.mean", "cpu.service"];
/// What one slice may carry in most runs of 20 s, so that they claim nothing of it: the longest pause of a shared machine makes it.
const MAY_BE_SILENT: [&str; 2] = ["response.p99.9", "response.mean"];

/// Runs beside a program that takes the CPUs.
const DISTURBED_RUNS: usize = 20;
/// Of 20 intervals that each hold the truth with a chance of 95 %, more than three miss it in one of 60 cases.
const MOST_MISSED: usize = 3;
/// How often each of the two CPUs is taken. A block of three slices of 50 ms meets one of the two in one of three cases, five attempts in a row in
/// one of 250.
const TAKEN_EVERY: Duration = Duration::from_secs(1);
/// The share of the blocks that are disturbed at first, at least.
const LEAST_DISTURBED: f64 = 0.1;
const HELD: [&str; 3] = ["response.p50", "response.mean", "response.p99"];

/// Compares the service with itself on the CPUs 0 and 1: its argument is the default, so that the two have other names alone.
fn compared(place: &Place, blocks: &str) -> RunResult {
    let services = ["compare", "--service", "orders", "--service", "orders --orders 12", "--on", "host"];
    let cpus = ["--service-cpus", "0", "--load-cpus", "1"];
    let plan =
        ["--rate", "2000/s", "--blocks", blocks, "--deployments", "6", "--repeats", "4", "--json", "-"];
    let ended = place.run(services.into_iter().chain(cpus).chain(plan));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    ended.result()
}

#[test]
fn a_service_that_is_compared_with_itself_does_not_differ() {
    let place = Place::alone();
    let (mut claims, mut silent) = ([0; CLAIMED.len()], [0; CLAIMED.len()]);
    for _ in 0..RUNS {
        let result = compared(&place, "8");
        for (at, metric) in CLAIMED.iter().enumerate() {
            let row = row(&result, metric);
            claims[at] += usize::from(!matches!(row.verdict, Verdict::Equivalent | Verdict::Unresolved));
            silent[at] += usize::from(row.interval.is_none());
        }
    }
    let rows = CLAIMED.iter().enumerate().map(|(at, metric)| Row {
        what: format!("a real service compared with itself in 20 s: claimed of {metric}"),
        expected: format!("≤ 2.5 %, by chance at most {MOST_BY_CHANCE} of {RUNS}"),
        found: format!("{} of {RUNS}", claims[at]),
        interval: format!("{} runs had an interval", RUNS - silent[at]),
        holds: claims[at] <= MOST_BY_CHANCE && (silent[at] <= RUNS / 2 || MAY_BE_SILENT.contains(metric)),
    });
    prove(&rows.collect::<Vec<Row>>());
}

#[test]
fn a_program_that_takes_the_cpus_makes_no_difference() {
    let place = Place::alone();
    let (mut held, mut claimed, mut disturbed, mut blocks) = ([0; HELD.len()], [0; HELD.len()], 0, 0);
    for _ in 0..DISTURBED_RUNS {
        let takers = [0, 1].map(|cpu| CpuTaker::start(cpu, Duration::from_millis(10), TAKEN_EVERY));
        // Enough requests that no slice carries the mean, or the tail.
        let result = compared(&place, "30");
        drop(takers);
        disturbed += result.trust.repeats.disturbed;
        blocks += result.trust.repeats.blocks;
        for (at, metric) in HELD.iter().enumerate() {
            let row = row(&result, metric);
            claimed[at] += usize::from(row.interval.is_some());
            held[at] += usize::from(row.interval.is_some_and(|[low, high]| low <= 0.0 && 0.0 <= high));
        }
    }
    let rows = std::array::from_fn::<Row, 3, _>(|at| Row {
        what: format!("a real-time program takes both CPUs: intervals of {} hold zero", HELD[at]),
        expected: format!("≥ 93 %, by chance all but {MOST_MISSED}"),
        found: format!("{} of {}", held[at], claimed[at]),
        interval: format!(
            "{DISTURBED_RUNS} runs, {:.0} % of the blocks disturbed at first",
            100.0 * disturbed as f64 / blocks as f64
        ),
        holds: claimed[at] >= DISTURBED_RUNS / 2 && claimed[at] - held[at] <= MOST_MISSED,
    });
    prove(&rows);
    let share = disturbed as f64 / blocks as f64;
    assert!(share >= LEAST_DISTURBED, "the programs hardly disturbed anything: {share}");
}

fn row<'a>(result: &'a RunResult, metric: &str) -> &'a result::Row {
    let found = result.contrasts[0].rows.iter().find(|row| row.metric == metric);
    found.unwrap_or_else(|| panic!("no row of {metric}"))
}
