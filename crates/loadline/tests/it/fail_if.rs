//! Conditions on which a run fails, as a CI job uses them: exit code 4, the report's first lines, JUnit XML.

use std::fs;

use loadline_model::result::{ClaimJudgement, ConditionJudgement, RunResult};
use loadline_model::{encode_histogram, new_histogram};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rusqlite::Connection;

use crate::support::leftovers;
use crate::support::place::{Ended, Place};

/// A delay of 200 µs, short slices of which some are undisturbed on a busy machine, and requests that are over before the next begins.
const DELAYED: &str = "
name: <delayed> & not
services: [{builtin: orders}, {builtin: orders, args: --delay 200us}]
platforms: [host]
loads: [{rate: 1000/s, arrivals: uniform}]
plan: {slice: 50ms, blocks: 8, deployments: 4, warmup: 5s, repeats: 2}
claims: [{text: a delay of 200 µs costs nothing, metric: response.p50, difference: negligible, must: true}]
fail_if: [p50 slower by > 20us, p50 faster]
";

/// What others do to the CPUs may hide the delay, but hardly in so many runs in a row.
const RUNS: u32 = 3;
/// In the order of the file, then of the command line, then of the claims.
const CHECKS: [&str; 4] =
    ["p50 slower by > 20us", "p50 faster", "p50 slower by > 5s", "a delay of 200 µs costs nothing"];

#[test]
fn a_service_that_got_slower_ends_with_exit_code_4() {
    let place = Place::alone();
    place.write("delayed.yaml", DELAYED);
    let mut unseen = Vec::new();
    for _ in 0..RUNS {
        let flags = ["--fail-if", CHECKS[2], "--junit", "junit.xml", "--json", "run.json"];
        let measured = place.run(["run", "delayed.yaml"].into_iter().chain(flags));
        leftovers::assert_none(&place.store().label());
        assert_reported(&place, &measured);
        // Whether the gates held is up to the machine; what follows from it is not.
        as_if_undisturbed(&place);
        let ended = report(&place);
        assert!(read(&place, "run.json").trust.trusted, "{}", ended.stdout);
        if !is_seen(&read(&place, "run.json")) {
            unseen.push(ended.stdout);
            continue;
        }
        assert_reported(&place, &ended);
        assert_eq!(ended.code, Some(4), "{}", ended.stdout);
        change_store(&place, "UPDATE warm_up SET stationary = 0", []);
        let ended = report(&place);
        assert_reported(&place, &ended);
        return assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    }
    panic!("{}", unseen.join("\n"));
}

/// Judges the stored run by what it was to pass; naming a condition again changes nothing.
fn report(place: &Place) -> Ended {
    place.run(["report", "--fail-if", "p50  faster", "--junit", "junit.xml", "--json", "run.json"])
}

/// The condition asks whether the difference's interval is beyond its amount, the claim whether it is beyond the margin at a stricter level:
/// on a busy machine one may be seen without the other.
fn is_seen(result: &RunResult) -> bool {
    result.conditions[0].judgement == ConditionJudgement::Holds
        && result.claims[0].judgement == ClaimJudgement::Refuted
}

/// Terminal, JSON and JUnit XML say the same, and the exit code follows from it.
fn assert_reported(place: &Place, ended: &Ended) {
    let (result, junit) = (read(place, "run.json"), Junit::read(place, "junit.xml"));
    assert_eq!((junit.suite.as_str(), junit.names.len()), ("<delayed> & not", CHECKS.len()));
    assert_eq!(junit.names, CHECKS);
    let shows = |line: &str| assert!(ended.stdout.contains(line), "no {line:?} in\n{}", ended.stdout);
    // The one comparison is made of all cells.
    let rows = result.contrasts.iter().flat_map(|contrast| &contrast.rows);
    assert!(rows.into_iter().all(|row| row.trusted == result.trust.trusted));
    if !result.trust.trusted {
        assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
        shows("\nnot judged (untrusted): p50 faster\n");
        assert_eq!((junit.failures.len(), junit.errors.len()), (0, CHECKS.len()));
    } else if is_seen(&result) {
        assert_eq!(ended.code, Some(4), "{}{}", ended.stdout, ended.stderr);
        assert_eq!(result.conditions[1].judgement, ConditionJudgement::RuledOut);
        assert_eq!(result.conditions[2].judgement, ConditionJudgement::RuledOut);
        shows("\nfails: p50 slower by > 20us\n  response p50, ");
        shows("\npasses: p50 faster\n");
        shows("\nfails: the claim “a delay of 200 µs costs nothing”\n");
        let [slower, claim] = &junit.failures[..] else { panic!("{:?}", junit.failures) };
        assert!(slower.contains("at least") && slower.contains(" slower"), "{slower}");
        assert!(claim.starts_with("refuted: response p50"), "{claim}");
        assert_eq!(junit.errors.len(), 0);
    }
}

/// Changes the stored run to one whose gates hold, so that its figures are judged on any machine.
fn as_if_undisturbed(place: &Place) {
    let no_lag = encode_histogram(&new_histogram());
    let quiet = "UPDATE slice SET gate_failures = '[]', cpu_use = NULL, sent_in_time = due, send_lag = ?1";
    change_store(place, quiet, [no_lag]);
    change_store(place, "UPDATE warm_up SET stationary = 1", []);
}

fn change_store<const N: usize>(place: &Place, sql: &str, values: [Vec<u8>; N]) {
    let store = Connection::open(place.path("loadline.db")).expect("a store");
    store.execute(sql, rusqlite::params_from_iter(values)).expect("SQL");
}

#[test]
fn a_service_against_itself_passes() {
    let place = Place::alone();
    let services = ["compare", "--service", "orders", "--service", "orders --orders 12", "--on", "host"];
    let plan = ["--slice", "50ms", "--blocks", "8", "--deployments", "4", "--warmup", "5s"];
    let load = ["--rate", "1000/s", "--arrivals", "uniform", "--json", "run.json"];
    let conditions = ["--fail-if", "p50 slower by > 100%", "--fail-if", "mean slower by > 10s"];
    let ended = place.run(services.into_iter().chain(plan).chain(load).chain(conditions));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = read(&place, "run.json");
    assert_eq!(result.conditions.len(), 2);
    assert!(result.conditions.iter().all(|condition| condition.judgement != ConditionJudgement::Holds));
    if result.trust.trusted {
        assert!(ended.stdout.contains("\npasses: p50 slower by > 100%\n"), "{}", ended.stdout);
    }
}

#[test]
fn a_condition_that_is_none_is_refused_before_anything_starts() {
    let place = Place::new();
    place.write("delayed.yaml", &DELAYED.replace("p50 faster", "p50 cheaper"));
    let commands: [&[&str]; 3] = [
        &["compare", "--fail-if", "p99 slower by > 5"],
        &["layers", "--fail-if", "p98 slower"],
        &["run", "delayed.yaml"],
    ];
    for arguments in commands {
        let ended = place.run(arguments.iter().copied());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("= help: "), "{}", ended.stderr);
        assert!(!place.path("loadline.db").exists(), "{arguments:?} made a store");
    }
}

fn read(place: &Place, name: &str) -> RunResult {
    let text = fs::read_to_string(place.path(name)).expect("a file");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What another program reads in the file.
#[derive(Default)]
struct Junit {
    suite: String,
    names: Vec<String>,
    /// The messages of failures.
    failures: Vec<String>,
    /// The messages of what could not be judged.
    errors: Vec<String>,
}

impl Junit {
    fn read(place: &Place, name: &str) -> Junit {
        let text = fs::read_to_string(place.path(name)).expect("a file");
        let (mut junit, mut reader) = (Junit::default(), Reader::from_str(&text));
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{error}\n{text}")) {
                Event::Eof => return junit,
                Event::Start(element) => match element.name().as_ref() {
                    b"testsuite" => junit.suite = attribute(&element, "name"),
                    b"testcase" => junit.names.push(attribute(&element, "name")),
                    b"failure" => junit.failures.push(attribute(&element, "message")),
                    b"error" => junit.errors.push(attribute(&element, "message")),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> String {
    let found = element.try_get_attribute(name).expect("well-formed").expect("an attribute");
    let text = std::str::from_utf8(&found.value).expect("UTF-8");
    quick_xml::escape::unescape(text).expect("escaped").into_owned()
}
