//! `kill -9` at any moment loses no ended slice, and `loadline clean` removes what the run left.

use std::time::Duration;

use crate::support::place::Place;
use crate::support::{STAGED, leftovers, wait_for};
use rustix::process::Signal;

/// The moments are random, but the same in every test run.
const SEED: u64 = 9;

/// What a run has in its store when the kill is due: the stages of a run one after the other.
const STAGES: [(&str, usize); 10] = [
    ("run", 1),        // laying the ground
    ("run", 1),        // deploying the baseline
    ("deployment", 1), // deploying its twin
    ("deployment", 2), // deploying the pod
    ("deployment", 3), // warming up
    ("warm_up", 1),
    ("slice", 1),
    ("slice", 4),
    ("slice", 6), // tearing down and deploying anew
    ("slice", 9),
];

#[test]
fn a_killed_run_keeps_its_slices_and_can_be_cleaned_up() {
    let mut random = SEED;
    for (table, rows) in STAGES {
        // One step of a linear congruential generator (Knuth's MMIX); its upper bits are the random ones.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let then = Duration::from_millis((random >> 33) % 300);
        kill_when(table, rows, then);
    }
}

fn kill_when(table: &str, rows: usize, then: Duration) {
    let moment = format!("{then:?} after {rows} in {table}");
    let place = Place::cleaning();
    let run = place.start(["compare", "--on", "host", "--on", "pod"].into_iter().chain(STAGED));
    place.wait_for_rows(table, rows);
    std::thread::sleep(then);
    let before = place.store().count("slice").unwrap_or_else(|| panic!("{moment}: the store can't be read"));
    run.send(Signal::KILL);
    assert_eq!(run.wait().code, None, "{moment}: it ended before it was killed");

    let store = place.store();
    assert_eq!(store.integrity(), "ok", "{moment}");
    let kept = store.count("slice").unwrap_or_else(|| panic!("{moment}: the store can't be read"));
    assert!(kept >= before, "{moment}: {before} slices before the kill and {kept} after it");
    assert_eq!(store.state(), "unfinished", "{moment}");
    let label = store.label();

    let shown = place.run(["report", "--json", "-"]);
    assert!(!shown.stderr.contains("panicked"), "{moment}: {}", shown.stderr);
    assert_eq!(shown.result().slices.len(), kept, "{moment}");

    let cleaned = place.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{moment}: {}", cleaned.stderr);
    leftovers::assert_none(&label);
}

#[test]
fn cleaning_up_leaves_a_living_run_alone() {
    let place = Place::cleaning();
    let run = place.start(["compare", "--on", "host", "--on", "pod"].into_iter().chain(STAGED));
    place.wait_for_rows("slice", 1);
    let label = place.store().label();
    let there = leftovers::of_run(&label);
    assert!(there.iter().any(|thing| thing.starts_with("ip: ")), "a run has links: {there:#?}");

    let cleaned = place.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(!cleaned.stdout.contains(&label), "{}", cleaned.stdout);

    let measured = place.store().count("slice").expect("the store can be read");
    wait_for("the run to go on measuring", || {
        let now = place.store().count("slice")?;
        (now > measured).then_some(())
    });
    run.wait().assert_measured();
    leftovers::assert_none(&label);
}
