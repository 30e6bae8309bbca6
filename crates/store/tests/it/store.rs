//! The store: what goes in comes out, and only what is a store is opened.

use std::time::Duration;

use loadline_model::experiment::Experiment;
use loadline_model::gates::{CpuUse, Gate, GateFailure, OfOneCpu};
use loadline_model::load::{Arrivals, Load};
use loadline_model::metrics::{HigherIs, MetricDeclaration, SERVICE_CPU, Unit};
use loadline_model::notes::{Failure, Note};
use loadline_model::plan::Plan;
use loadline_model::rows::{
    DeploymentRow, NewRun, Purpose, RequestTimes, SliceRow, StartupRow, TrialRow, WarmUpRow,
};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, Observations, RunState, SiteId, SparseHistogram, TimeSpent};
use loadline_spec::{Flags, Machine, from_flags};
use loadline_store::{Copied, Store, StoreError};
use proptest::prelude::*;

fn experiment() -> Experiment {
    let flags = Flags {
        services: vec!["orders --delay 1ms".to_owned()],
        on: vec!["host".to_owned(), "local:cgroup+veth".to_owned(), "http://127.0.0.1:8080/".to_owned()],
        rates: vec!["100/min".to_owned(), "2000/s".to_owned()],
        closed: true,
        ..Flags::default()
    };
    from_flags(&flags, &Machine::this(&|_, _| Ok(()))).unwrap()
}

fn begin(store: &Store, experiment: &Experiment) -> i64 {
    store
        .begin_run(&NewRun {
            label: "3fa9c1",
            version: "0.1.0",
            command_line: &["loadline".to_owned(), "compare".to_owned()],
            experiment,
            plan: &Plan::new(experiment),
            machine: &loadline_model::Machine { cpus: Some(2), ..Default::default() },
            service_cpus: &[0],
            load_cpus: &[1],
            metrics: &[MetricDeclaration::counter("cpu.service", Unit::Nanoseconds)],
        })
        .unwrap()
}

fn slice(times_ns: &[u64]) -> SliceRow {
    let mut histogram = SparseHistogram::default();
    times_ns.iter().for_each(|time| histogram.record_n(*time, 1));
    SliceRow {
        cell: CellId(1),
        load: Load::Closed { think: None },
        round: 2,
        block: 3,
        attempt: 1,
        position: 4,
        at_s: 5.5,
        duration_s: 1.2,
        due: 10,
        sent_in_time: 9,
        answered: 8,
        answered_in_time: 7,
        waited: 6,
        reconnects: 5,
        received_bytes: 4,
        load_cpu_ns: 3,
        load_spun_ns: Some(1),
        by_request: vec![RequestTimes { request: "GET /a".to_owned(), response: histogram.clone() }],
        errors: [("timeout".to_owned(), 2)].into(),
        service: histogram.clone(),
        send_lag: SparseHistogram::default(),
        response: histogram,
        observations: Observations::default().with(SERVICE_CPU, 123).with("jvm.gc.pause", 45),
        cpu_use: Some(CpuUse {
            capacity_ns: 9,
            steal_ns: 1,
            most_stolen: Some(OfOneCpu { part_ns: 1, whole_ns: 5 }),
            foreign_ns: Some(2),
        }),
        gate_failures: vec![
            GateFailure::Stolen { share: 0.25, most: 0.02 },
            GateFailure::NotSent {
                gate: Gate::Rate,
                share: 0.5,
                least: 0.999,
                asked: Load::Open { rate: "2000/s".parse().unwrap(), arrivals: Arrivals::Poisson },
            },
        ],
        trial: Some(TrialRow { purpose: Purpose::Confirm, slices: 5.0 }),
    }
}

fn notes() -> [Note; 3] {
    [
        Note::LeftOut { text: "it's \"quoted\"".to_owned() },
        Note::TimeOver { deployments: 3, within: Duration::from_millis(1500) },
        Note::SideBySide { cells: 2, fewer_than: Some(100.0), busy_share: 0.0125 },
    ]
}

fn failure() -> Failure {
    Failure { site: Some(SiteId(1)), text: "died".to_owned() }
}

#[test]
fn a_run_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let experiment = experiment();
    let spent = TimeSpent { total_s: 60.5, measuring_s: 50.25, ..TimeSpent::default() };
    let run = {
        let store = Store::create(&path).unwrap();
        let run = begin(&store, &experiment);
        let left_out = vec!["the cgroup layer".to_owned()];
        store
            .add_deployment(
                run,
                &DeploymentRow {
                    site: SiteId(1),
                    round: 0,
                    at_s: 0.5,
                    ready_ms: 3.5,
                    left_out,
                    startup: StartupRow::default(),
                    runtime: Runtime::default(),
                },
            )
            .unwrap();
        let figures = vec![1.5, 2.5];
        store
            .add_warm_up(
                run,
                &WarmUpRow { cell: CellId(1), round: 0, seconds: 1.2, stationary: false, figures },
            )
            .unwrap();
        store.add_slice(run, &slice(&[1, 1_000, 3_600_000_000_000])).unwrap();
        store.set_side_by_side(run, &[CellId(0), CellId(1)]).unwrap();
        notes().iter().for_each(|note| store.add_note(run, note).unwrap());
        store.add_failure(run, &failure()).unwrap();
        store.set_time_spent(run, &spent).unwrap();
        store.finish_run(run, RunState::Failed).unwrap();
        run
    };
    let store = Store::open(&path).unwrap();
    let row = store.run(None).unwrap();
    assert_eq!((row.id, row.label.as_str(), row.state), (run, "3fa9c1", RunState::Failed));
    assert_eq!(row.experiment, experiment);
    assert_eq!(row.plan, Plan::new(&experiment));
    assert_eq!(row.command_line, ["loadline", "compare"]);
    assert_eq!(row.notes, notes());
    assert_eq!(row.time_spent, Some(spent));
    assert_eq!(row.failures, [failure()]);
    assert_eq!(
        (row.side_by_side, row.service_cpus, row.load_cpus),
        (vec![CellId(0), CellId(1)], vec![0], vec![1])
    );
    assert!(row.finished.is_some());
    assert_eq!(store.deployments(run).unwrap()[0].left_out, ["the cgroup layer"]);
    let warm_up = &store.warm_ups(run).unwrap()[0];
    assert_eq!((warm_up.stationary, warm_up.figures.as_slice()), (false, [1.5, 2.5].as_slice()));
    let (read, written) = (&store.slices(run).unwrap()[0], slice(&[1, 1_000, 3_600_000_000_000]));
    // Histograms print at great length.
    assert!(*read == written, "the slice changed in the store");
}

#[test]
fn runs_are_numbered_and_the_latest_is_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("a.db")).unwrap();
    let experiment = experiment();
    assert_eq!([begin(&store, &experiment), begin(&store, &experiment)], [1, 2]);
    assert_eq!(store.run(None).unwrap().id, 2);
    assert_eq!(store.run(Some(1)).unwrap().id, 1);
    let imported = rusqlite::Connection::open(folder.path().join("a.db")).unwrap();
    imported.execute("UPDATE run SET started = '2001-01-01T00:00:00Z' WHERE id = 2", []).unwrap();
    assert_eq!(store.run(None).unwrap().id, 1, "it began later");
    let error = store.run(Some(9)).unwrap_err().to_string();
    assert!(error.contains("no run 9") && error.contains("runs 1 to 2"), "{error}");
}

#[test]
fn experiments_come_latest_first_without_those_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Store::create(&path).unwrap();
    let experiment = experiment();
    let [one, later, damaged, four] = [(); 4].map(|()| begin(&store, &experiment));
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE run SET started = '2999-01-01T00:00:00Z' WHERE id = ?1", [later]).unwrap();
    other.execute("UPDATE run SET experiment = '{}' WHERE id = ?1", [damaged]).unwrap();
    let ids = |most| -> Vec<i64> { store.experiments(most).unwrap().map(|(id, _)| id).collect() };
    assert_eq!(ids(10), [later, four, one]);
    assert_eq!(ids(2), [later, four]);
    assert!(store.experiments(1).unwrap().all(|(_, found)| found == experiment));
}

#[test]
fn a_run_that_never_ended_is_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("a.db")).unwrap();
    begin(&store, &experiment());
    let row = store.run(None).unwrap();
    assert_eq!((row.state, row.finished), (RunState::Unfinished, None));
}

#[test]
fn runs_that_were_killed_are_interrupted_and_others_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Store::create(&path).unwrap();
    let [killed, alive, elsewhere, complete] = [(); 4].map(|()| begin(&store, &experiment()));
    store.finish_run(complete, RunState::Complete).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute(
            "UPDATE run SET label = printf('00000%d', id), machine = json_set(machine, '$.hostname', 'here')",
            [],
        )
        .unwrap();
    let set = "UPDATE run SET machine = json_set(machine, '$.hostname', 'there') WHERE id = ?1";
    other.execute(set, [elsewhere]).unwrap();
    store.end_killed_runs(Some("here"), &[format!("00000{alive}")]).unwrap();
    let state = |run| store.run(Some(run)).unwrap().state;
    let expected = [RunState::Interrupted, RunState::Unfinished, RunState::Unfinished, RunState::Complete];
    assert_eq!([killed, alive, elsewhere, complete].map(state), expected);
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.db");
    assert!(matches!(Store::open(&missing), Err(StoreError::Missing(_))));
    assert!(!missing.exists());

    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database, but long enough to look at: ".repeat(50)).unwrap();
    assert!(matches!(Store::create(&text), Err(StoreError::Sqlite { .. })));

    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(matches!(Store::create(&other), Err(StoreError::Version { found: 0, .. })));

    let newer = folder.path().join("newer.db");
    drop(Store::create(&newer).unwrap());
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(&newer).err().unwrap().to_string();
    assert!(error.contains("its version is 99"), "{error}");
}

#[test]
fn two_writers_share_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let experiment = experiment();
    let stores = [Store::create(&path).unwrap(), Store::create(&path).unwrap()];
    let runs = stores.each_ref().map(|store| begin(store, &experiment));
    for block in 0..20 {
        for (store, run) in stores.iter().zip(runs) {
            store.add_slice(run, &SliceRow { block, ..slice(&[block.into()]) }).unwrap();
        }
    }
    assert_eq!(runs.map(|run| stores[0].slices(run).unwrap().len()), [20, 20]);
}

#[test]
fn a_run_is_copied_once_and_again_only_if_it_was_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    let [store, other] = ["a.db", "b.db"].map(|name| folder.path().join(name));
    let store = Store::create(&store).unwrap();
    let run = begin(&store, &experiment());
    let copy = || store.copy(&[run], &other).unwrap();
    assert_eq!(copy(), [Copied { number: 1, was_there: false }]);
    assert_eq!(copy(), [Copied { number: 1, was_there: true }], "as unfinished as it is");
    store.add_slice(run, &slice(&[1000])).unwrap();
    store.finish_run(run, RunState::Complete).unwrap();
    assert_eq!(copy(), [Copied { number: 2, was_there: false }], "the first lacks a slice");
    assert_eq!(copy(), [Copied { number: 2, was_there: true }]);
    let other = Store::open(&other).unwrap();
    assert_eq!((other.runs().unwrap().len(), other.slices(2).unwrap().len()), (2, 1));
}

#[test]
fn the_space_of_deleted_runs_is_given_back_when_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Store::create(&path).unwrap();
    let run = begin(&store, &experiment());
    for block in 0..100 {
        store.add_slice(run, &SliceRow { block, ..slice(&[block.into()]) }).unwrap();
    }
    let free_pages = || -> i64 {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_query_value(None, "freelist_count", |row| row.get(0)).unwrap()
    };
    store.delete(&[run]).unwrap();
    assert!(free_pages() > 0, "other writers wait for nothing but the deletion");
    store.shrink();
    assert_eq!(free_pages(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn histograms_survive_the_store(times in proptest::collection::vec(1u64..4_000_000_000_000, 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("a.db")).unwrap();
        let run = begin(&store, &experiment());
        let written = slice(&times);
        store.add_slice(run, &written).unwrap();
        prop_assert_eq!(&store.slices(run).unwrap()[0].response, &written.response);
    }
}

#[test]
fn a_slice_may_be_long_after_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("a.db")).unwrap();
    let run = begin(&store, &experiment());
    let at_s = Duration::from_secs(86_400 * 7).as_secs_f64();
    store.add_slice(run, &SliceRow { at_s, ..slice(&[1]) }).unwrap();
    assert_eq!(store.slices(run).unwrap()[0].at_s, at_s);
}

#[test]
fn a_run_keeps_the_declarations_of_its_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("loadline.db")).unwrap();
    let run = begin(&store, &experiment());
    let mut metrics = store.run(Some(run)).unwrap().metrics;
    assert_eq!(metrics, [MetricDeclaration::counter("cpu.service", Unit::Nanoseconds)]);
    let pause = MetricDeclaration::counter("jvm.gc.pause", Unit::Nanoseconds);
    metrics.push(pause.shown_as("GC pauses", HigherIs::Slower).primary());
    metrics.push(MetricDeclaration::level("jvm.heap", Unit::Bytes).of_the_machine());
    store.set_metrics(run, &metrics).unwrap();
    assert_eq!(store.run(Some(run)).unwrap().metrics, metrics);
}
