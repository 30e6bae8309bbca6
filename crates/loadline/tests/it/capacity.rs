//! The most that a service carries: what is known of it is found, and what is irregular is said.

use loadline_analysis::result::RunResult;

use crate::support::leftovers;
use crate::support::place::Place;

/// A service that works on four requests at once, each for 2 ms: 2000/s.
const KNOWN: &str = "orders --delay 2ms --at-once 4";
const CARRIED: f64 = 2000.0;

/// A busy machine disturbs trials, which are made again.
const SEARCH: [&str; 17] = [
    "capacity",
    "--service",
    KNOWN,
    "--on",
    "host",
    "--rate",
    "500/s",
    "-c",
    "64",
    "--precision",
    "10%",
    "--objective",
    "p99 <= 50ms",
    "--warmup",
    "1s",
    "--within",
    "2min",
];

fn search(place: &Place, more: &[&str]) -> RunResult {
    let ended = place.run(SEARCH.into_iter().chain(["--json", "-"]).chain(more.iter().copied()));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    ended.result()
}

#[test]
fn a_known_capacity_is_found_and_shown_again() {
    let place = Place::shared();
    let result = search(&place, &[]);
    let found = result.capacities.expect("capacities");
    assert_eq!(found.objectives, ["p99 <= 50ms", "sent >= 99%"]);
    let [capacity] = &found.cells[..] else { panic!("{found:?}") };
    let [low, high] = capacity.interval.expect("an interval");
    // Others on the machine make slices fail, which the search then says: whether the interval holds the truth is proved elsewhere.
    assert!(low > 0.0 && high < 1.5 * CARRIED, "{capacity:?}");
    let paused = capacity.findings.iter().any(|finding| finding.text.contains("because the machine paused"));
    assert!(low > 0.3 * CARRIED || paused, "{capacity:?}");
    assert!(capacity.lower_bound.is_none_or(|lower| lower < 1.5 * CARRIED), "{capacity:?}");
    assert!(capacity.trials >= 6 && capacity.curve.len() >= 4, "{capacity:?}");
    assert!(
        result.contrasts.is_empty() && result.noise.is_empty(),
        "slices of different rates are not compared"
    );

    let against = place.run(SEARCH.into_iter().chain(["--against", "1", "--json", "against.json"]));
    against.assert_measured();
    let read = std::fs::read_to_string(place.path("against.json")).expect("a file");
    let compared: RunResult = serde_json::from_str(&read).expect("a result");
    assert_eq!(compared.capacities.map(|found| found.cells.len()), Some(2), "the earlier one and this one");
    let judged = place.run(["compare", "1", "2", "--fail-if", "capacity fewer by > 95%"]);
    assert!(matches!(judged.code, Some(0 | 1 | 3)), "{:?} {}", judged.code, judged.stderr);
    assert!(judged.stdout.contains("capacity fewer by > 95%"), "{}", judged.stdout);
    let other = place.run(["compare", "--on", "host", "--against", "1"]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(
        other.stderr.contains("run 1 searched for capacities, and this experiment did not"),
        "{}",
        other.stderr
    );

    let again = place.run(["report", "--full"]);
    again.assert_measured();
    for text in [
        "How much does each carry?",
        "A slice passes if it meets all of: p99 <= 50ms, sent >= 99%",
        "95 % interval",
        "search",
    ] {
        assert!(again.stdout.contains(text), "{text}: {}", again.stdout);
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = Place::new();
    for (arguments, why) in [
        (["--objective", "p99 < 5ms"].as_slice(), "`p99 < 5ms` is no objective"),
        (&["--objective", "success >= 200%"], "no share is above 100%"),
        (&["--objective", "p99 <= 1ms", "--objective", "p99 >= 5ms"], "nothing meets both"),
        (
            &["--objective", "p99 <= 1ms", "--objective", "p50 >= 5ms"],
            "nothing meets both `p99 <= 1ms` and `p50 >= 5ms`",
        ),
        (&["--precision", "0.01%"], "a precision is from 0.2% to 50%"),
        (&["--rate", "1000/s", "--most", "500/s"], "the search begins above the highest rate"),
        (&["--rate", "1000/s..2000/s@10s"], "a search begins at a rate"),
    ] {
        let ended = place.run(["capacity"].into_iter().chain(arguments.iter().copied()));
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_precision_that_cannot_be_had_in_the_time_is_refused_before_anything_starts() {
    let place = Place::new();
    place.write(
        "search.yaml",
        "
service: {builtin: orders}
platforms: [host]
loads: [{rate: 500/s}]
capacity: {objectives: [p99 <= 50ms], precision: 0.5%}
plan: {within: 45s}
",
    );
    for command in ["run", "plan"] {
        let ended = place.run([command, "search.yaml"]);
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        for text in ["cannot find a capacity to ±0.5% within 45s: the fewest trials take ", "--precision "] {
            assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
        }
    }
    assert!(!place.path("loadline.db").exists(), "nothing was measured");
}

#[test]
fn a_condition_that_nothing_could_judge_is_refused_before_anything_starts() {
    let place = Place::new();
    let two = ["--on", "host", "--on", "pod"].as_slice();
    for (command, platforms, condition, why) in [
        ("capacity", two, "p99 slower by > 5%", "`p99` is judged over deployments, and this search has one"),
        (
            "capacity",
            &two[..2],
            "capacity fewer by > 5%",
            "nothing is compared that the condition could be about",
        ),
        ("compare", two, "capacity fewer by > 5%", "only a search finds a capacity"),
        ("capacity", two, "capacity slower", "`capacity` is never `slower`"),
    ] {
        let ended =
            place.run([command].into_iter().chain(platforms.iter().copied()).chain(["--fail-if", condition]));
        assert_eq!(ended.code, Some(2), "{condition}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{condition}: {}", ended.stderr);
    }
    assert!(!place.path("loadline.db").exists(), "nothing was measured");
}
