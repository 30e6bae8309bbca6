//! A job that fails when the new version is slower: how often it does where nothing changed, and where a tenth was added.

use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::{Ended, Place};

/// Short runs of each kind.
const RUNS: usize = 40;
/// Of 40 that each fail with a chance of 2.5 % at most, more than two do so in one of 13 cases.
const MOST_WITHOUT_A_CHANGE: usize = 2;
/// Of 40 that each fail with a chance of at least 95 %, fewer would in one of 13 cases.
const LEAST_WITH_A_CHANGE: usize = 38;
/// A run in which the machine was too busy to tell is measured again: so often in all. Each further one counts as one that did not fail.
const MOST_UNTRUSTED: usize = 20;

/// A request takes 1.1 ms, and 0.11 ms more.
const OLD: &str = "orders --delay 1ms";
const SLOWER: &str = "orders --delay 1110us";

/// A short run with these arguments besides.
fn short_run(place: &Place, arguments: &[&str]) -> Ended {
    let load = ["compare", "--on", "host", "--rate", "500/s", "--arrivals", "uniform"];
    let plan = ["--slice", "200ms", "--blocks", "4", "--deployments", "6", "--repeats", "3"];
    let ended = place.run(load.into_iter().chain(plan).chain(arguments.iter().copied()));
    leftovers::assert_none(&place.store().label());
    ended
}

/// How many of the runs ended with exit code 4.
fn failed(new: &str, condition: &str) -> (usize, usize) {
    let place = Place::alone();
    let (mut failed, mut untrusted, mut counted) = (0, 0, 0);
    while counted < RUNS {
        // The default has other arguments, so that two that are alike have other names.
        let ended = short_run(&place, &["--service", OLD, "--service", new, "--fail-if", condition]);
        match ended.code {
            Some(0) => {}
            Some(4) => failed += 1,
            Some(3) if untrusted < MOST_UNTRUSTED => {
                untrusted += 1;
                continue;
            }
            Some(3) => {}
            other => panic!("{other:?}: {}\n{}", ended.stdout, ended.stderr),
        }
        counted += 1;
    }
    (failed, untrusted)
}

#[test]
fn an_unchanged_service_fails_no_job_and_a_tenth_more_fails_it() {
    // Any difference for what did not change, half of it for what did: in each case the harder one.
    let rows = [
        ("no change", "p50 slower", "orders --delay 1ms --orders 12", MOST_WITHOUT_A_CHANGE, true),
        ("10 % more", "p50 slower by > 5%", SLOWER, LEAST_WITH_A_CHANGE, false),
    ];
    let rows = rows.map(|(what, condition, new, bound, is_most)| {
        let (failed, untrusted) = failed(new, condition);
        let (word, holds) =
            if is_most { ("at most", failed <= bound) } else { ("at least", failed >= bound) };
        Row {
            what: format!("--fail-if '{condition}', {what}: exit code 4"),
            expected: format!("in {word} {bound} of {RUNS}"),
            found: format!("in {failed}"),
            interval: format!("{RUNS} runs, {untrusted} repeated"),
            holds,
        }
    });
    prove(&rows);
}

#[test]
fn an_unchanged_service_does_not_fail_against_the_run_before() {
    const CONDITION: &str = "p50 slower by > 5%";
    let place = Place::alone();
    short_run(&place, &["--service", OLD]).assert_measured();
    let (mut pairs, mut failed, mut untrusted) = (0, 0, 0);
    for before in 1.. {
        let against = before.to_string();
        let ended = short_run(&place, &["--service", OLD, "--against", &against, "--fail-if", CONDITION]);
        match ended.code {
            Some(0) => {}
            Some(4) => failed += 1,
            Some(3) if untrusted < MOST_UNTRUSTED => {
                untrusted += 1;
                continue;
            }
            Some(3) => {}
            other => panic!("{other:?}: {}\n{}", ended.stdout, ended.stderr),
        }
        pairs += 1;
        if pairs == RUNS {
            break;
        }
    }
    prove(&[Row {
        what: format!("--against the run before, --fail-if '{CONDITION}', no change: exit code 4"),
        expected: format!("in at most {MOST_WITHOUT_A_CHANGE} of {RUNS}"),
        found: format!("in {failed}"),
        interval: format!("{RUNS} pairs, {untrusted} repeated"),
        holds: failed <= MOST_WITHOUT_A_CHANGE,
    }]);
}
