//! `outcome_bias` over hundreds of runs (`make prove`).

use crate::outcome_bias::{Bias, paused};
use crate::proof::{Row, prove};

/// Runs of one candidate, and of four, of which most blocks count in part.
const RUNS: [(u64, usize); 2] = [(400, 1), (600, 4)];
/// Of a mean or tail that hangs on a block which was disturbed in each attempt, nothing is claimed; of this share of the runs, something must be.
const LEAST_CLAIMED: f64 = 0.3;
/// The share of the intervals that must hold the truth.
const LEAST_HELD: f64 = 0.93;

/// Whether the intervals hold the truth as often as they must, as far as so many tell: not if they fall short by two standard errors.
fn holds_often_enough(bias: &Bias) -> bool {
    let claimed = bias.claimed as f64;
    let held = bias.held as f64 / claimed;
    held + 2.0 * (held * (1.0 - held) / claimed).sqrt() >= LEAST_HELD
}

#[test]
fn pauses_of_the_machine_leave_every_difference_as_it_is() {
    let rows = RUNS.map(|(runs, candidates)| rows(runs, candidates));
    prove(rows.as_flattened());
}

fn rows(runs: u64, candidates: usize) -> [Row; 3] {
    let paused = paused(runs, candidates);
    let plural = if candidates == 1 { "" } else { "s" };
    ["response.p50", "response.mean", "response.p99"].map(|metric| {
        let bias = paused.bias(metric);
        let share = 100.0 * bias.held as f64 / bias.claimed.max(1) as f64;
        let unbiased = if bias.is_unbiased { "no bias" } else { "biased" };
        Row {
            what: format!(
                "simulated pauses of the machine, 20 ms once a second, {candidates} candidate{plural}: intervals of {metric} hold the truth"
            ),
            expected: "≥ 93 %, no bias".to_owned(),
            found: format!("{share:.1} %, {unbiased}"),
            interval: format!("{} of {runs} runs claim something", bias.claimed),
            holds: bias.is_unbiased && bias.claimed as f64 >= LEAST_CLAIMED * runs as f64 && holds_often_enough(&bias),
        }
    })
}
