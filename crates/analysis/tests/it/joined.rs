//! Stored runs, compared across.

use loadline_analysis::result::{Contrast, Role, RunResult, Slice, Verdict};
use loadline_analysis::{NamedRun, NotComparable, RunData, analyse, changed_daemons, join};
use loadline_model::notes::{Change, Circumstance, Note};
use loadline_model::rows::Surroundings;
use loadline_report::Style;

use crate::capacity::{POD, carry, search_of};
use crate::made_up::MadeUp;

/// A run of host and pod with this number; its pod is so much slower.
fn run(id: i64, seed: u64, shift_us: f64, rounds: u32) -> RunData {
    let mut data = MadeUp { seed, shift_us, rounds, ..MadeUp::default() }.data();
    data.run.id = id;
    data.run.label = format!("run{id}");
    data
}

fn joined(before: RunData, after: RunData) -> Result<RunData, NotComparable> {
    join(NamedRun::by_number(before), vec![NamedRun::by_number(after)])
}

fn judged(before: RunData, after: RunData) -> RunResult {
    analyse(&joined(before, after).expect("they have cells in common"))
}

fn about<'a>(result: &'a RunResult, platform: &str) -> &'a Contrast {
    let found =
        result.contrasts.iter().find(|contrast| result.cells[contrast.candidate].platform == platform);
    found.unwrap_or_else(|| panic!("{platform} is not compared"))
}

fn median(contrast: &Contrast) -> &loadline_analysis::result::Row {
    contrast.rows.iter().find(|row| row.metric == "response.p50").expect("a median")
}

#[test]
fn each_cell_is_compared_with_the_same_one_of_the_earlier_run() {
    let result = judged(run(3, 1, 0.0, 8), run(5, 1001, 5.0, 8));
    assert_eq!(result.contrasts.len(), 2, "host with host, and pod with pod");
    for contrast in &result.contrasts {
        let [baseline, candidate] = [contrast.baseline, contrast.candidate].map(|id| &result.cells[id]);
        assert_eq!([&baseline.service, &candidate.service], ["orders (run 3)", "orders (run 5)"]);
        assert_eq!(baseline.platform, candidate.platform);
        assert_eq!([baseline.role, candidate.role], [Role::Baseline, Role::Candidate]);
    }
    let host = median(about(&result, "host"));
    assert!(matches!(host.verdict, Verdict::Equivalent | Verdict::Unresolved), "{host:?}");
    let pod = median(about(&result, "pod"));
    assert_eq!(pod.verdict, Verdict::Slower);
    let [low, high] = pod.interval.expect("an interval");
    assert!(low < 5_000.0 && 5_000.0 < high, "{pod:?}");
    assert_eq!(result.noise.len(), 2, "the twins of both runs are held against what they are twins of");
}

#[test]
fn several_runs_are_each_compared_with_the_first() {
    let later = [run(5, 1001, 5.0, 8), run(6, 2001, 10.0, 8)].map(NamedRun::by_number);
    let three =
        join(NamedRun::by_number(run(3, 1, 0.0, 8)), later.into()).expect("they have cells in common");
    let result = analyse(&three);
    let pods = result.contrasts.iter().filter(|contrast| result.cells[contrast.candidate].platform == "pod");
    let found: Vec<(&str, &str, f64)> = pods
        .map(|contrast| {
            let [baseline, candidate] = [contrast.baseline, contrast.candidate].map(|id| &result.cells[id]);
            (&*baseline.service, &*candidate.service, (median(contrast).difference / 5_000.0).round())
        })
        .collect();
    assert_eq!(found, [("orders (run 3)", "orders (run 5)", 1.0), ("orders (run 3)", "orders (run 6)", 2.0)]);
    assert_eq!(three.run.experiment.name, "run 5, run 6 against run 3");
    let said = |note: &&Note| matches!(note, Note::NotInterleaved { before, .. } if before == "run 3");
    assert_eq!(three.run.notes.iter().filter(said).count(), 2);
    let again = [run(5, 1001, 5.0, 8), run(5, 1001, 5.0, 8)].map(NamedRun::by_number);
    let refused = join(NamedRun::by_number(run(3, 1, 0.0, 8)), again.into()).err();
    assert_eq!(refused, Some(NotComparable::Same("run 5".to_owned())));
}

#[test]
fn each_slice_has_its_time_in_its_own_run() {
    let runs = || [run(3, 1, 0.0, 2), run(5, 1001, 5.0, 3), run(6, 2001, 5.0, 2)];
    let alone: Vec<Vec<f64>> =
        runs().iter().map(|run| run.slices.iter().map(|slice| slice.at_s).collect()).collect();
    let [first, later @ ..] = runs().map(NamedRun::by_number);
    let result = analyse(&join(first, later.into()).expect("they have cells in common"));
    for (name, expected) in ["run 3", "run 5", "run 6"].into_iter().zip(alone) {
        let of_run = |slice: &&Slice| result.cells[slice.cell].run.as_deref() == Some(name);
        let own: Vec<f64> =
            result.slices.iter().filter(of_run).map(|slice| slice.own_at_s.expect("a time")).collect();
        assert_eq!(own.len(), expected.len(), "{name}");
        assert!(own.iter().zip(&expected).all(|(own, alone)| (own - alone).abs() < 1e-6), "{name}: {own:?}");
    }
    // One run after the other.
    assert!(result.slices.is_sorted_by(|one, other| one.at_s < other.at_s));
    let single = analyse(&run(3, 1, 0.0, 2));
    assert!(single.slices.iter().all(|slice| slice.own_at_s.is_none()));
    assert!(single.cells.iter().all(|cell| cell.run.is_none()));
}

#[test]
fn what_a_reader_must_know_stands_before_the_figures() {
    let mut after = run(5, 1001, 5.0, 8);
    after.run.machine.kernel = Some("6.18.1".to_owned());
    after.run.experiment.limits.cpus = Some(0.5);
    let result = judged(run(3, 1, 0.0, 8), after);
    let style = Style { colour: false, width: 100, full: false, by_request: false, spectrum: false };
    let table = loadline_report::terminal(&result, &style);
    insta::assert_snapshot!(table.split("\n\n").next().unwrap_or_default());
    let unequal = result.notes.iter().filter(|note| matches!(note.what, Some(Note::UnequalResources { .. })));
    assert_eq!(unequal.count(), 2, "host and pod");
}

#[test]
fn intervals_hold_the_truth_although_no_deployments_are_paired() {
    const RUNS: u64 = 200;
    let held = (0..RUNS).filter(|seed| {
        let result = judged(run(1, *seed, 0.0, 8), run(2, seed + 10_000, 5.0, 6));
        let row = median(about(&result, "pod"));
        row.interval.is_some_and(|[low, high]| low <= 5_000.0 && 5_000.0 <= high)
    });
    let held = held.count();
    // Of 200 with a chance of 95 %, fewer than 181 would be one case in a thousand.
    assert!(held >= 181, "{held} of {RUNS}");
}

#[test]
fn runs_that_have_nothing_in_common_are_refused_with_what_they_have() {
    assert_eq!(
        joined(run(3, 1, 0.0, 2), run(3, 2, 0.0, 2)).err(),
        Some(NotComparable::Same("run 3".to_owned()))
    );
    let ladder = MadeUp { static_pod_us: Some(1.0), ladder: true, rounds: 2, ..MadeUp::default() };
    assert_eq!(
        joined(run(3, 1, 0.0, 2), ladder.data()).err(),
        Some(NotComparable::Ladder("run 1".to_owned()))
    );
    let mut after = run(5, 1, 0.0, 2);
    after.run.experiment.loads[0].connections = 64;
    let refused = joined(run(3, 1, 0.0, 2), after).err().expect("another load").to_string();
    insta::assert_snapshot!(refused);
}

#[test]
fn another_daemon_or_language_runtime_is_named() {
    let with = |id, seed, docker: &str, go: &str| {
        let mut data = run(id, seed, 0.0, 2);
        let facts = serde_json::json!({ "version": docker, "runtime": "runc", "rules": id });
        let summary = format!("Docker Engine {docker}");
        data.run.surroundings.insert("pod".to_owned(), Surroundings { summary, facts });
        data.deployments.iter_mut().for_each(|deployment| deployment.runtime.set("go.version", go));
        data
    };
    let changes = |before: RunData, after: RunData| {
        let alone = changed_daemons(&before.run, &after.run);
        let notes = joined(before, after).expect("they have cells in common").run.notes;
        let changes = notes.into_iter().find_map(|note| match note {
            Note::NotInterleaved { changes, .. } => Some(changes),
            _ => None,
        });
        (alone, changes.expect("they took no turns"))
    };
    let before = || with(3, 1, "24.0.5", "go1.22");
    let (daemons, all) = changes(before(), with(5, 2, "25.0.1", "go1.23"));
    let daemon = Change {
        what: Circumstance::Daemon,
        before: "pod: version 24.0.5".to_owned(),
        after: "25.0.1".to_owned(),
    };
    let runtime = Change {
        what: Circumstance::Runtime,
        before: "go.version go1.22".to_owned(),
        after: "go1.23".to_owned(),
    };
    assert_eq!(daemons, std::slice::from_ref(&daemon));
    assert_eq!(all, [daemon, runtime]);
    let (_, none) = changes(before(), with(5, 2, "24.0.5", "go1.22"));
    assert!(none.is_empty(), "{none:?}");
}

/// A search whose pod carries so many times as much as its host.
fn search(id: i64, times: f64) -> RunData {
    let mut data = search_of(|_, _, slice| {
        if slice.cell == POD {
            carry(times, slice);
        }
    });
    data.run.id = id;
    data.run.label = format!("run{id}");
    data
}

#[test]
fn searches_are_compared_by_their_capacities() {
    let result = judged(search(3, 1.0), search(5, 0.5));
    let found = result.capacities.as_ref().expect("capacities");
    let verdicts: Vec<(&str, Verdict)> = found
        .differences
        .iter()
        .map(|difference| (&*result.cells[difference.candidate].platform, difference.verdict))
        .collect();
    assert_eq!(verdicts, [("host", Verdict::Unresolved), ("pod", Verdict::Fewer)]);
    let rows = found.at_the_same_rate.iter().chain(&found.at_their_own).flat_map(|contrast| &contrast.rows);
    assert!(rows.into_iter().all(|row| row.metric == "capacity"), "no block was measured in both");
    let table = loadline_report::terminal(
        &result,
        &Style { colour: false, width: 100, full: false, by_request: false, spectrum: false },
    );
    assert!(table.contains("Run 3 and run 5 were measured one after the other"), "{table}");
    assert!(!table.contains("at its own capacity"), "{table}");
}

#[test]
fn searches_for_different_capacities_are_refused() {
    let mut other = search(5, 1.0);
    other.run.experiment.capacity.as_mut().expect("a search").precision = 0.1;
    let (before, after) = ("run 3".to_owned(), "run 5".to_owned());
    let refused = NotComparable::OtherCapacities { before, after };
    assert_eq!(joined(search(3, 1.0), other).err(), Some(refused));
    let (searched, one) = ("run 3".to_owned(), "run 6".to_owned());
    let refused = NotComparable::OneSearch { searched, other: one };
    assert_eq!(joined(search(3, 1.0), run(6, 1, 0.0, 2)).err(), Some(refused));
}
