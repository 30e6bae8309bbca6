//! A real-time program that takes the CPUs leaves the difference between two services that are the same as it is.

use std::time::Duration;

use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;
use loadline_test_support::CpuTaker;

const RUNS: usize = 20;
const METRICS: [&str; 3] = ["response.p50", "response.mean", "response.p99"];

#[test]
fn a_program_that_takes_the_cpus_leaves_no_difference_between_services_that_are_the_same() {
    let place = Place::alone();
    // Its argument is the default, so that the two have other names alone.
    let services = ["compare", "--service", "orders", "--service", "orders --orders 12", "--on", "host"];
    let plan = ["--rate", "2000/s", "--blocks", "8", "--deployments", "6", "--repeats", "4", "--json", "-"];
    let (mut held, mut claimed, mut disturbed, mut blocks) = ([0; 3], [0; 3], 0, 0);
    for _ in 0..RUNS {
        let takers =
            [0, 1].map(|cpu| CpuTaker::start(cpu, Duration::from_millis(10), Duration::from_millis(500)));
        let ended = place.run(services.into_iter().chain(plan));
        drop(takers);
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let result = ended.result();
        disturbed += result.trust.repeats.disturbed;
        blocks += result.trust.repeats.blocks;
        for (at, metric) in METRICS.iter().enumerate() {
            let row = result.contrasts[0].rows.iter().find(|row| row.metric == *metric).expect(metric);
            claimed[at] += usize::from(row.interval.is_some());
            held[at] += usize::from(row.interval.is_some_and(|[low, high]| low <= 0.0 && 0.0 <= high));
        }
    }
    let rows = std::array::from_fn::<Row, 3, _>(|at| Row {
        what: format!("a real-time program takes both CPUs: intervals of {} hold zero", METRICS[at]),
        expected: "≥ 93 %, or one miss, in at least half of the runs".to_owned(),
        found: format!("{} of {}", held[at], claimed[at]),
        interval: format!(
            "{RUNS} runs, {:.0} % of the blocks disturbed at first",
            100.0 * disturbed as f64 / blocks as f64
        ),
        holds: claimed[at] >= RUNS / 2
            && (claimed[at] - held[at] <= 1 || held[at] as f64 >= 0.93 * claimed[at] as f64),
    });
    prove(&rows);
}
