//! Stored runs, compared across.

use crate::support::BRIEF;
use crate::support::place::Place;
use loadline_analysis::result::{Contrast, RunResult};

#[test]
fn stored_runs_are_compared_and_said_to_have_taken_no_turns() {
    let place = Place::shared();
    let two = ["compare", "--service", "orders", "--on", "host", "--rate", "500/s"];
    for _ in 0..3 {
        place.run(two.into_iter().chain(BRIEF)).assert_measured();
    }

    let ended = place.run(["compare", "1", "2", "--json", "stored.json", "--markdown", "stored.md"]);
    ended.assert_measured();
    let first = "Run 1 and run 2 were measured one after the other, not in turns";
    assert!(ended.stdout.starts_with(first), "{}", ended.stdout);
    assert!(ended.stdout.contains("orders (run 1) against orders (run 2)"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("Kept in"), "nothing was measured");
    let json = std::fs::read_to_string(place.path("stored.json")).expect("a file");
    let result: RunResult = serde_json::from_str(&json).expect("a result");
    assert_eq!(result.contrasts.len(), 1);
    assert!(result.contrasts[0].rows.iter().any(|row| row.metric == "response.p50"));
    let markdown = std::fs::read_to_string(place.path("stored.md")).expect("a file");
    assert!(markdown.contains(first), "{markdown}");

    let three = place.run(["compare", "1", "2", "3", "--json", "three.json"]);
    three.assert_measured();
    let json = std::fs::read_to_string(place.path("three.json")).expect("a file");
    let result: RunResult = serde_json::from_str(&json).expect("a result");
    let compared = |contrast: &Contrast| {
        [contrast.baseline, contrast.candidate].map(|cell| result.cells[cell].service.clone())
    };
    let expected = [["orders (run 1)", "orders (run 2)"], ["orders (run 1)", "orders (run 3)"]];
    assert_eq!(result.contrasts.iter().map(compared).collect::<Vec<_>>(), expected);

    let condition = place.run(["compare", "1", "2", "--fail-if", "p50 slower by > 100000%"]);
    assert!(matches!(condition.code, Some(0 | 1 | 3)), "{:?} {}", condition.code, condition.stderr);
    assert!(condition.stdout.contains("p50 slower by > 100000%"), "{}", condition.stdout);
}

#[test]
fn stored_runs_that_cannot_be_compared_are_refused() {
    let place = Place::shared();
    let two = ["compare", "--service", "orders", "--on", "host"];
    for rate in ["500/s", "600/s"] {
        place.run(two.into_iter().chain(["--rate", rate]).chain(BRIEF)).assert_measured();
    }
    for (arguments, why) in [
        (["compare", "1", "1"].as_slice(), "run 1 cannot be compared with itself"),
        (&["compare", "1"], "name a second stored run to compare run 1 with"),
        (&["compare", "1", "2", "--rate", "500/s"], "leave out the flags that describe a run"),
        (&["compare", "1", "2"], "run 1 and run 2 have nothing in common to compare"),
        (&["compare", "1", "2", "--flame-graphs", "f"], "--flame-graphs draws those of one run"),
    ] {
        let ended = place.run(arguments.iter().copied());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{arguments:?}: {}", ended.stderr);
    }
    let missing = place.run(["compare", "1", "7"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("has no run 7"), "{}", missing.stderr);
}

#[test]
fn a_run_is_held_against_a_stored_one() {
    let place = Place::shared();
    let two = ["compare", "--service", "orders", "--on", "host", "--rate", "500/s"];
    place.run(two.into_iter().chain(BRIEF)).assert_measured();
    assert_eq!(place.run(["store", "export", "1", "-o", "baseline.db"]).code, Some(0));

    for (against, name) in
        [("1", "Run 1 and run 2 were"), ("baseline.db", "Run 1 of baseline.db and run 3 were")]
    {
        let with = ["--against", against, "--fail-if", "p50 slower by > 100000%"];
        let ended = place.run(two.into_iter().chain(BRIEF).chain(with));
        assert!(matches!(ended.code, Some(0 | 1 | 3)), "{:?} {}", ended.code, ended.stderr);
        assert!(ended.stdout.starts_with(name), "{}", ended.stdout);
        assert!(ended.stdout.contains("p50 slower by > 100000%"), "{}", ended.stdout);
    }

    let limited = ["--limit-cpu", "0.5", "--against", "1"];
    let refused = place.run(two.into_iter().chain(BRIEF).chain(limited));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("the limits of the service (none, then 0.5 CPUs)"), "{}", refused.stderr);

    let other = rusqlite::Connection::open(place.path("baseline.db")).expect("a store");
    let change = "UPDATE run SET machine = json_set(machine, '$.kernel', '5.10.0')";
    assert_eq!(other.execute(change, []).expect("a machine"), 1);
    drop(other);
    let refused = place.run(two.into_iter().chain(BRIEF).chain(["--against", "baseline.db"]));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("its kernel (5.10.0, then "), "{}", refused.stderr);
    let allowed = ["--against", "baseline.db", "--allow-different"];
    let ended = place.run(two.into_iter().chain(BRIEF).chain(allowed));
    ended.assert_measured();
    assert!(ended.stdout.replace('\n', " ").contains("its kernel (5.10.0"), "{}", ended.stdout);
}
