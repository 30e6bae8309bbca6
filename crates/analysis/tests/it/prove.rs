//! The error rates of `judging` and the intervals of `coverage` over thousands of runs (`make prove`).

use crate::coverage::{ROWS, Seen, coverage, has_truth};
use crate::judging::{FAMILIES, claims_without_a_difference, most_by_chance};
use crate::made_up::noise::Noise;
use crate::proof::{Row, prove};
use loadline_stats::FALSE_CLAIMS;

const RUNS: u64 = 1_000;
/// A claim in 40 runs is rarer than a missed interval: so many tell 2.5 % from 3 %.
const RUNS_WITHOUT_A_DIFFERENCE: u64 = 4_000;

/// A count of runs as a percentage.
fn share(count: usize, runs: u64) -> String {
    format!("{:.1} %", 100.0 * count as f64 / runs as f64)
}

/// Two standard errors of it.
fn interval(count: usize, runs: u64) -> String {
    let share = count as f64 / runs as f64;
    format!("± {:.1} %, {runs} runs", 200.0 * (share * (1.0 - share) / runs as f64).sqrt())
}

#[test]
fn no_difference_is_claimed_more_often_than_the_stated_error_rate() {
    let claims = claims_without_a_difference(RUNS_WITHOUT_A_DIFFERENCE);
    let families = FAMILIES.map(|metric| format!("{metric} of either of two candidates"));
    let twins = "the twin, in any primary metric".to_owned();
    let rows: Vec<Row> = families
        .into_iter()
        .zip(claims.of_families)
        .chain([(twins, claims.of_twins)])
        .map(|(what, claimed)| Row {
            what: format!("made-up runs without a difference, judged from end to end: claimed of {what}"),
            expected: "≤ 2.5 %".to_owned(),
            found: share(claimed, RUNS_WITHOUT_A_DIFFERENCE),
            interval: interval(claimed, RUNS_WITHOUT_A_DIFFERENCE),
            holds: claimed as f64 <= most_by_chance(FALSE_CLAIMS, RUNS_WITHOUT_A_DIFFERENCE),
        })
        .collect();
    prove(&rows);
}

/// The most runs in which an interval may leave out the truth, and the most intervals that may hold it: more would be wider than they say.
const MOST_MISSED: f64 = 0.07;
const MOST_HELD: f64 = 0.97;

/// Whether 93 to 97 % of the intervals may hold the truth, as far as so many runs tell. A run in which the row claims nothing is not wrong.
fn covers(seen: Seen) -> bool {
    let error = |share: f64, of: f64| (share * (1.0 - share) / of).sqrt();
    let (missed, held) = (seen.missed as f64 / RUNS as f64, seen.coverage());
    let claims = (seen.held + seen.missed).max(1) as f64;
    missed - 2.0 * error(missed, RUNS as f64) <= MOST_MISSED && held - 3.0 * error(held, claims) <= MOST_HELD
}

fn prove_coverage(noise: Noise) {
    let rows: Vec<Row> = ROWS
        .iter()
        .zip(coverage(noise, RUNS))
        .filter(|(metric, _)| has_truth(metric, noise))
        .map(|(metric, seen)| {
            let claims = seen.held + seen.missed;
            Row {
                what: format!("95 % intervals of {metric}, {}: covered", noise.name),
                expected: "93 to 97 %, or no claim".to_owned(),
                found: match claims {
                    0 => "no claim".to_owned(),
                    _ => {
                        format!("{:.1} %, no claim in {}", 100.0 * seen.coverage(), share(seen.silent, RUNS))
                    }
                },
                interval: interval(seen.held, claims.max(1) as u64),
                holds: covers(seen),
            }
        })
        .collect();
    prove(&rows);
}

#[test]
fn intervals_cover_in_quiet() {
    prove_coverage(Noise::QUIET);
}

#[test]
fn intervals_cover_where_few_requests_take_far_longer() {
    prove_coverage(Noise::HEAVY_REQUESTS);
}

#[test]
fn intervals_cover_where_deployments_differ() {
    prove_coverage(Noise::DEPLOYMENTS);
}

#[test]
fn intervals_cover_where_few_deployments_are_slow() {
    prove_coverage(Noise::SKEWED_DEPLOYMENTS);
}

#[test]
fn intervals_cover_where_deployments_are_of_two_kinds() {
    prove_coverage(Noise::TWO_MODES);
}

#[test]
fn intervals_cover_where_the_candidate_varies_more() {
    prove_coverage(Noise::ROUGH_CANDIDATE);
}

#[test]
fn intervals_cover_in_correlated_bursts() {
    prove_coverage(Noise::CORRELATED);
}

#[test]
fn intervals_cover_while_the_machine_drifts() {
    prove_coverage(Noise::DRIFT);
}

#[test]
fn intervals_cover_in_loud_spells() {
    prove_coverage(Noise::LOUD);
}

#[test]
fn intervals_cover_where_one_side_stalls() {
    prove_coverage(Noise::STALLING);
}

#[test]
fn intervals_cover_where_both_sides_stall() {
    prove_coverage(Noise::BOTH_STALLING);
}

#[test]
fn intervals_cover_or_claim_nothing_where_the_longest_stall_outweighs_all_others() {
    prove_coverage(Noise::HEAVY_TAIL);
}
