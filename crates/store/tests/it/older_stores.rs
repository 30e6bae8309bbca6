//! A store that an earlier loadline wrote opens, and its runs are reported as is kept beside it. `UPDATE_REPORTS=1` accepts changed reports:
//! read the diff, and say in the commit why they changed.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use loadline_analysis::analyse;
use loadline_model::gates::GateFailure;
use loadline_model::notes::Note;
use loadline_model::result::RunResult;
use loadline_report::{Style, json, markdown, terminal};
use loadline_store::Store;
use rusqlite::Connection;
use serde_json::Value;

const RUNS: std::ops::RangeInclusive<i64> = 1..=6;

/// Opening a store brings it up to date, so each test has a copy.
struct Copy {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Copy {
    fn of_version_3() -> Copy {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loadline.db");
        std::fs::write(&path, unpacked("loadline.db.gz")).unwrap();
        Copy { _folder: folder, path }
    }

    fn version(&self) -> i32 {
        let connection = Connection::open(&self.path).unwrap();
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-3").join(name)
}

fn unpacked(name: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let packed = std::fs::File::open(fixture(name)).unwrap();
    GzDecoder::new(packed).read_to_end(&mut content).unwrap();
    content
}

fn text(name: String) -> String {
    std::fs::read_to_string(fixture(&name)).unwrap()
}

/// Whether to keep the reports as they are now.
fn accepts_changes() -> bool {
    std::env::var_os("UPDATE_REPORTS").is_some()
}

fn keep(name: &str, content: &[u8]) {
    if !name.ends_with(".gz") {
        return std::fs::write(fixture(name), content).unwrap();
    }
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(content).unwrap();
    std::fs::write(fixture(name), packer.finish().unwrap()).unwrap();
}

/// Every run of the store, judged.
fn results(store: &Store) -> Vec<(i64, RunResult)> {
    RUNS.map(|run| (run, analyse(&store.data(Some(run)).unwrap()))).collect()
}

#[test]
fn a_store_of_version_3_is_brought_up_to_date_once() {
    let copy = Copy::of_version_3();
    assert_eq!(copy.version(), 3);
    drop(Store::open(&copy.path).unwrap());
    assert_eq!(copy.version(), loadline_model::VERSION as i32);
    let before = std::fs::read(&copy.path).unwrap();
    drop(Store::open(&copy.path).unwrap());
    assert!(std::fs::read(&copy.path).unwrap() == before, "opening it again changes nothing");
}

#[test]
fn a_store_of_version_1_is_brought_up_to_date_too() {
    let copy = Copy::of_version_3();
    // What versions 2 and 3 had added.
    let earlier = "ALTER TABLE run DROP COLUMN surroundings; ALTER TABLE deployment DROP COLUMN startup;
        ALTER TABLE slice DROP COLUMN load_spun_ns; DROP TABLE profile; PRAGMA user_version = 1;";
    Connection::open(&copy.path).unwrap().execute_batch(earlier).unwrap();
    let store = Store::open(&copy.path).unwrap();
    let data = store.data(Some(1)).unwrap();
    assert!(data.profiles.is_empty() && data.slices.iter().all(|slice| slice.load_spun_ns.is_none()));
    assert_eq!(analyse(&data).slices.len(), 80);
    assert_eq!(copy.version(), loadline_model::VERSION as i32);
}

#[test]
fn its_json_is_the_same_field_by_field() {
    let copy = Copy::of_version_3();
    for (run, result) in results(&Store::open(&copy.path).unwrap()) {
        let mut written = Vec::new();
        json(&result, &mut written).unwrap();
        let now: Value = serde_json::from_slice(&written).unwrap();
        let then: Value = serde_json::from_slice(&unpacked(&format!("run-{run}.json.gz"))).unwrap();
        if accepts_changes() && then != now {
            keep(&format!("run-{run}.json.gz"), &written);
            continue;
        }
        let mut differences = Vec::new();
        compare(&format!("run {run}"), &then, &now, &mut differences);
        assert_eq!(differences, Vec::<String>::new());
    }
}

#[test]
fn its_text_is_the_same_byte_for_byte() {
    let copy = Copy::of_version_3();
    for (run, result) in results(&Store::open(&copy.path).unwrap()) {
        // What the program adds below.
        let kept = format!("Kept in loadline.db as run {run} · loadline report {run} --json run-{run}.json");
        let shown = terminal(
            &result,
            &Style { colour: false, width: 100, full: false, by_request: false, spectrum: false },
        );
        let shown = format!("{}\n\n{kept}\n", shown.trim_end());
        let markdown = markdown(&result);
        if accepts_changes() {
            keep(&format!("run-{run}.txt"), shown.as_bytes());
            keep(&format!("run-{run}.md"), markdown.as_bytes());
        }
        assert_eq!(shown, text(format!("run-{run}.txt")), "run {run}");
        assert_eq!(markdown, text(format!("run-{run}.md")), "run {run}");
    }
}

#[test]
fn what_it_says_in_sentences_is_kept_as_such() {
    let copy = Copy::of_version_3();
    let store = Store::open(&copy.path).unwrap();
    let notes = store.run(Some(2)).unwrap().notes;
    assert_eq!(notes.len(), 2);
    assert!(notes.iter().all(|note| matches!(note, Note::Text { .. })), "{notes:?}");
    let failures = store.run(Some(3)).unwrap().failures;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].site, None);
    assert!(failures[0].text.starts_with("false on host′: the service ended"), "{failures:?}");
    let slices = store.slices(1).unwrap();
    let failed: Vec<&GateFailure> = slices.iter().flat_map(|slice| &slice.gate_failures).collect();
    assert!(failed.len() >= 80 && failed.iter().all(|failure| matches!(failure, GateFailure::Text { .. })));
}

#[test]
fn its_slices_have_the_load_of_their_cell() {
    let copy = Copy::of_version_3();
    let store = Store::open(&copy.path).unwrap();
    let mut loads = std::collections::BTreeSet::new();
    for run in RUNS {
        let of_run = store.run(Some(run)).unwrap();
        for slice in store.slices(run).unwrap() {
            let planned = of_run.experiment.load(of_run.plan.load_of(slice.cell));
            assert_eq!(slice.load, planned.load, "run {run}");
            loads.insert(slice.load.to_string());
        }
    }
    assert!(loads.len() > 1, "a run has several loads");
}

/// Names every place at which two documents differ.
fn compare(path: &str, then: &Value, now: &Value, differences: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for key in then.keys().chain(now.keys().filter(|key| !then.contains_key(*key))) {
                let of = |document: &serde_json::Map<String, Value>| document.get(key).cloned();
                match (of(then), of(now)) {
                    (Some(then), Some(now)) => compare(&format!("{path}.{key}"), &then, &now, differences),
                    (Some(_), None) => differences.push(format!("{path}.{key} is gone")),
                    _ => differences.push(format!("{path}.{key} is new")),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            if then.len() != now.len() {
                differences.push(format!("{path}: {} items, now {}", then.len(), now.len()));
            }
            for (at, (then, now)) in then.iter().zip(now).enumerate() {
                compare(&format!("{path}[{at}]"), then, now, differences);
            }
        }
        _ if then == now => {}
        _ => differences.push(format!("{path}: {then}, now {now}")),
    }
}
