//! A service compared with itself: nothing is claimed.

use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;
use loadline_model::result::{self, RunResult, Verdict};

/// Runs of 20 s.
const RUNS: usize = 60;
/// Of 60 runs that each claim with a chance of 2.5 %, more than five do so in one of 200 cases.
const MOST_BY_CHANCE: usize = 5;
const CLAIMED: [&str; 5] = ["response.p50", "response.p99", "response.p99.9", "response.mean", "cpu.service"];
/// What one slice may carry in most runs of 20 s, so that they claim nothing of it: the longest pause of a shared machine makes it.
const MAY_BE_SILENT: [&str; 2] = ["response.p99.9", "response.mean"];

/// Compares the service with itself on the CPUs 0 and 1: its argument is the default, so that the two have other names alone.
pub(super) fn compared(place: &Place, blocks: &str) -> RunResult {
    let services = ["compare", "--service", "orders", "--service", "orders --orders 12", "--on", "host"];
    let cpus = ["--service-cpus", "0", "--load-cpus", "1"];
    let plan = ["--rate", "2000/s", "--blocks", blocks, "--deployments", "6", "--json", "-"];
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
        let result = compared(&place, "12");
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

pub(super) fn row<'a>(result: &'a RunResult, metric: &str) -> &'a result::Row {
    let found = result.contrasts[0].rows.iter().find(|row| row.metric == metric);
    found.unwrap_or_else(|| panic!("no row of {metric}"))
}
