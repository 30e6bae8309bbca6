//! A known delay is found as long as it is, and a service against itself shows no difference, as often as 95 % intervals promise.

use crate::positive_control::{Found, measure};
use crate::proof::{Row, prove};
use crate::support::place::Place;
use loadline_analysis::result::Verdict;

/// So many runs are measured, whatever they find.
const RUNS: usize = 10;
/// One interval in twenty misses by design, and so does one verdict on noise: more than two of ten do so once in ninety times.
const MISSES: usize = 2;
/// A run that says it can't be trusted is measured again: so often in all. Each further one counts as it is.
const MOST_UNTRUSTED: usize = 5;

const DELAY_NS: f64 = 200e3;

#[test]
fn a_delay_of_200_us_more_is_found_as_long_as_it_is_and_the_twin_shows_none() {
    let place = Place::alone();
    let (mut runs, mut untrusted): (Vec<Found>, usize) = (Vec::new(), 0);
    for seed in 1.. {
        let plan = ["--slice", "50ms", "--blocks", "16", "--deployments", "6", "--repeats", "6"];
        let found = measure(&place, seed, &plan);
        println!(
            "{seed}: trusted {}, {:?}, twin {:?}",
            found.trusted, found.delayed.interval, found.twin.verdict
        );
        if !found.trusted && untrusted < MOST_UNTRUSTED {
            untrusted += 1;
            continue;
        }
        runs.push(found);
        if runs.len() == RUNS {
            break;
        }
    }
    let holds = |found: &&Found| {
        found.delayed.interval.is_some_and(|[low, high]| low <= DELAY_NS && DELAY_NS <= high)
    };
    let held = runs.iter().filter(holds).count();
    let seen = runs.iter().filter(|found| found.delayed.verdict == Verdict::Slower).count();
    let quiet = |found: &&Found| matches!(found.twin.verdict, Verdict::Equivalent | Verdict::Unresolved);
    let quiet = runs.iter().filter(quiet).count();
    let mut differences: Vec<f64> = runs.iter().map(|found| found.delayed.difference / 1e3).collect();
    differences.sort_by(f64::total_cmp);
    let effort = format!("{RUNS} runs, {untrusted} repeated");
    let median = (differences[RUNS / 2 - 1] + differences[RUNS / 2]) / 2.0;
    let at_least = format!("in at least {} of {RUNS}", RUNS - MISSES);
    prove(&[
        Row {
            what: "a delay of 200 µs more: seen as slower".to_owned(),
            expected: "in all runs".to_owned(),
            found: format!("in {seen} of {RUNS}, {median:.1} µs"),
            interval: format!("{:.1} to {:.1} µs, {effort}", differences[0], differences[RUNS - 1]),
            holds: seen == RUNS,
        },
        Row {
            what: "a delay of 200 µs more: in the 95 % interval".to_owned(),
            expected: at_least.clone(),
            found: format!("in {held}"),
            interval: effort.clone(),
            holds: held + MISSES >= RUNS,
        },
        Row {
            what: "a service against itself: no verdict".to_owned(),
            expected: at_least,
            found: format!("in {quiet}"),
            interval: effort,
            holds: quiet + MISSES >= RUNS,
        },
    ]);
}
