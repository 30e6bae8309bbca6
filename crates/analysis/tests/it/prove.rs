//! The error rate of `judging` over a thousand runs (`make prove`).

use crate::judging::claims_without_a_difference;
use crate::proof::{Row, prove};

const RUNS: u64 = 1_000;

#[test]
fn no_difference_is_claimed_more_often_than_the_stated_error_rate() {
    let claimed = claims_without_a_difference(RUNS);
    let share = claimed as f64 / RUNS as f64;
    let two_errors = 200.0 * (share * (1.0 - share) / RUNS as f64).sqrt();
    prove(&[Row {
        what: "made-up runs without a difference, judged from end to end: claimed one at the median"
            .to_owned(),
        expected: "≤ 5 %".to_owned(),
        found: format!("{:.1} %", 100.0 * share),
        interval: format!("± {two_errors:.1} %, {RUNS} runs"),
        holds: share <= 0.05,
    }]);
}
