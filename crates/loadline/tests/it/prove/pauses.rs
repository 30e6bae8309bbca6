//! A service compared with itself while a real-time program takes both CPUs now and then: repeating disturbed blocks makes no difference.

use std::time::Duration;

use loadline_test_support::CpuTaker;

use super::same_service::{compared, row};
use crate::proof::{Row, prove};
use crate::support::place::Place;

const RUNS: usize = 20;
/// So many intervals of each figure are looked at, at least, and [`RUNS`] at most: in a loud hour most runs claim nothing of the mean. Further
/// runs are measured until there are so many, whatever they hold.
const LEAST_CLAIMED: usize = 10;
const MOST_RUNS: usize = 50;
/// Of 20 intervals that each hold the truth with a chance of 95 %, more than three miss it in one of 60 cases.
const MOST_MISSED: usize = 3;
/// How often each of the two CPUs is taken. A block of three slices of 50 ms meets one of the two in one of three cases.
const TAKEN_EVERY: Duration = Duration::from_secs(1);
/// The share of the blocks that are disturbed at first, at least.
const LEAST_DISTURBED: f64 = 0.1;
const HELD: [&str; 3] = ["response.p50", "response.mean", "response.p99"];

#[test]
fn a_program_that_takes_the_cpus_makes_no_difference() {
    let place = Place::alone();
    let (mut held, mut claimed, mut disturbed, mut blocks) = ([0; HELD.len()], [0; HELD.len()], 0, 0);
    let mut runs = 0;
    while runs < RUNS || runs < MOST_RUNS && claimed.iter().any(|claimed| *claimed < LEAST_CLAIMED) {
        runs += 1;
        let takers = [0, 1].map(|cpu| CpuTaker::start(cpu, Duration::from_millis(10), TAKEN_EVERY));
        // Enough requests that no slice carries the mean, or the tail.
        let result = compared(&place, "30");
        drop(takers);
        disturbed += result.trust.repeats.disturbed;
        blocks += result.trust.repeats.blocks;
        for (at, metric) in HELD.iter().enumerate() {
            if let Some([low, high]) = row(&result, metric).interval.filter(|_| claimed[at] < RUNS) {
                claimed[at] += 1;
                held[at] += usize::from(low <= 0.0 && 0.0 <= high);
            }
        }
    }
    let rows = std::array::from_fn::<Row, 3, _>(|at| Row {
        what: format!("a real-time program takes both CPUs: intervals of {} hold zero", HELD[at]),
        expected: format!("≥ 93 %, by chance all but {MOST_MISSED}"),
        found: format!("{} of {}", held[at], claimed[at]),
        interval: format!(
            "{runs} runs, {:.0} % of the blocks disturbed at first",
            100.0 * disturbed as f64 / blocks as f64
        ),
        holds: claimed[at] >= LEAST_CLAIMED && claimed[at] - held[at] <= MOST_MISSED,
    });
    prove(&rows);
    let share = disturbed as f64 / blocks as f64;
    assert!(share >= LEAST_DISTURBED, "the programs hardly disturbed anything: {share}");
}
