//! `outcome_bias` over hundreds of runs (`make prove`).

use crate::outcome_bias::{Bias, paused};
use crate::proof::{Row, prove};

const RUNS: u64 = 200;
/// Of a mean or tail that hangs on a block which was disturbed in each attempt, nothing is claimed; of so many runs, something must be.
const LEAST_CLAIMED: usize = 60;

#[test]
fn pauses_of_the_machine_leave_every_difference_as_it_is() {
    let paused = paused(RUNS);
    let rows = ["response.p50", "response.mean", "response.p99"].map(|metric| {
        let Bias { held, claimed, is_unbiased } = paused.bias(metric);
        let share = 100.0 * held as f64 / claimed.max(1) as f64;
        let unbiased = if is_unbiased { "no bias" } else { "biased" };
        Row {
            what: format!(
                "simulated pauses of the machine, 20 ms once a second: intervals of {metric} hold the truth"
            ),
            expected: "≥ 93 %, no bias".to_owned(),
            found: format!("{share:.1} %, {unbiased}"),
            interval: format!("{claimed} of {RUNS} runs claim something"),
            holds: is_unbiased && share >= 93.0 && claimed >= LEAST_CLAIMED,
        }
    });
    prove(&rows);
}
