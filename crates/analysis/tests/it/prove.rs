//! The error rates of `judging` and the intervals of `coverage` over thousands of runs (`make prove`).

use crate::capacities::differences;
use crate::coverage::{ROWS, Seen, coverage, has_truth};
use crate::history::{LOUD_WEEKS, NIGHTS, Nights, false_alarms, found};
use crate::judging::{FAMILIES, claims_without_a_difference, most_by_chance};
use crate::made_up::noise::Noise;
use crate::overloads::{COLLAPSES, LATE, Queue, SHEDS, collapses_and_sheds};
use crate::proof::{Row, prove};
use crate::scalability::{LAW, WITHOUT_CROSSTALK, held};
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

#[test]
fn changes_are_found_in_histories_of_runs_that_are_not_equally_sure() {
    const SERIES: u64 = 200;
    let rows = NIGHTS.map(|nights| {
        let found = found(nights, SERIES);
        Row {
            what: format!("`history`: {}: a change of 3 % found within two of where it is", forty(nights)),
            expected: "in at least 95 %".to_owned(),
            found: share(found, SERIES),
            interval: interval(found, SERIES).replace("runs", "series"),
            holds: found as f64 >= 0.95 * SERIES as f64,
        }
    });
    prove(&rows);
}

#[test]
fn histories_of_runs_that_are_not_equally_sure_seldom_have_a_change_that_is_none() {
    const SERIES: u64 = 500;
    let rows = NIGHTS.into_iter().chain([LOUD_WEEKS]).map(|nights| {
        let alarms = false_alarms(nights, SERIES);
        Row {
            what: format!("`history`: {}, without a change: one is found", forty(nights)),
            expected: "in at most one of 50".to_owned(),
            found: share(alarms, SERIES),
            interval: interval(alarms, SERIES).replace("runs", "series"),
            holds: alarms as u64 <= SERIES / 50,
        }
    });
    prove(&rows.collect::<Vec<Row>>());
}

fn forty(nights: Nights) -> String {
    format!("40 runs of {}", nights.name)
}

#[test]
fn differences_of_capacities_hold_what_was_planted_and_seldom_claim_what_was_not() {
    const SEARCHES: u64 = 500;
    let mut rows = Vec::new();
    for rounds in [1, 3, 6] {
        let (planted, none) = (differences(rounds, 0.85, SEARCHES), differences(rounds, 1.0, SEARCHES));
        let mut row = |what: &str, expected: &str, count: usize, holds: bool| {
            rows.push(Row {
                what: format!("capacities of two platforms, searches in {rounds} deployments: {what}"),
                expected: expected.to_owned(),
                found: share(count, SEARCHES),
                interval: interval(count, SEARCHES).replace("runs", "searches"),
                holds,
            });
        };
        let covers = |held: usize| held as u64 * 100 >= 93 * SEARCHES;
        row("the interval holds a difference of 15 %", "≥ 93 %", planted.held, covers(planted.held));
        row("the interval holds a difference of zero", "≥ 93 %", none.held, covers(none.held));
        let by_chance = none.claimed as f64 <= most_by_chance(0.02, SEARCHES);
        row("a difference that is none is claimed", "≤ 2 %", none.claimed, by_chance);
        row("a difference of the wrong sign is claimed", "none", planted.wrong, planted.wrong == 0);
        // Twice the precision.
        let at_margin = differences(rounds, 1.0 / 1.04, SEARCHES).equivalent;
        let by_chance = at_margin as f64 <= most_by_chance(0.05, SEARCHES);
        row("a difference as large as the margin is called equivalent", "≤ 5 %", at_margin, by_chance);
        let [claimed, equivalent] = [planted.claimed, none.equivalent].map(|count| share(count, SEARCHES));
        println!(
            "{rounds} deployments: 15 % are claimed in {claimed}, none is called equivalent in {equivalent}"
        );
    }
    prove(&rows);
}

#[test]
fn what_an_overload_does_to_a_queue_is_found() {
    const SEARCHES: u64 = 200;
    let row = |what: &str, expected: &str, queue: Queue, [collapses, sheds]: [bool; 2]| {
        let seen = collapses_and_sheds(queue, SEARCHES);
        let holds = |seen: usize, is: bool| {
            let right = if is { seen as u64 } else { SEARCHES - seen as u64 };
            right * 100 >= 95 * SEARCHES
        };
        Row {
            what: format!("capacity of M/M/1 {what}: found to collapse, to refuse requests"),
            expected: expected.to_owned(),
            found: format!("{}, {}", share(seen[0], SEARCHES), share(seen[1], SEARCHES)),
            interval: format!("{SEARCHES} searches"),
            holds: holds(seen[0], collapses) && holds(seen[1], sheds),
        }
    };
    prove(&[
        row("that answers late when it is overloaded", "≤ 5 %, ≤ 5 %", LATE, [false, false]),
        row("whose clients give up after 200 ms", "≥ 95 %, ≤ 5 %", COLLAPSES, [true, false]),
        row("that refuses more than 30 at once", "≤ 5 %, ≥ 95 %", SHEDS, [false, true]),
    ]);
}

#[test]
fn intervals_of_the_scalability_law_hold_its_parameters() {
    let laws = [("", LAW), (" without crosstalk", WITHOUT_CROSSTALK)].map(|(name, law)| {
        let parameters = ["throughput of one", "contention", "crosstalk"];
        parameters.into_iter().zip(held(law, RUNS)).map(move |(parameter, held)| Row {
            what: format!("scalability law{name}, 6 deployments: the interval of its {parameter} holds it"),
            expected: "≥ 93 %".to_owned(),
            found: share(held, RUNS),
            interval: interval(held, RUNS),
            holds: held as u64 * 100 >= 93 * RUNS,
        })
    });
    prove(&laws.into_iter().flatten().collect::<Vec<Row>>());
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
