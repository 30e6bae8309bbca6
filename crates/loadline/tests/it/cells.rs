//! An experiment that leaves cells out, compares what is not the first, and gives a platform limits of its own; and what `loadline plan`
//! says of it before it runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use loadline_model::preview::Preview;
use loadline_model::result::{Cell, Role, RunResult};
use serde_json::Value;

use crate::support::leftovers;
use crate::support::place::Place;

/// The service uses all that it is given under the first load. `roomy` has a quota that its one CPU never uses up.
const EXPERIMENT: &str = "
name: cells of one's own
service: {builtin: cpu, requests: ['GET /cpu?n=20']}
limits: {cpu: 0.2}
platforms:
  - host
  - container
  - {name: roomy, container: {}, limits: {cpu: 2}}
loads:
  - {name: burn, closed: true, connections: 4}
  - {rate: 20/s, arrivals: uniform, connections: 1}
cells: {exclude: [{platform: container, load: 20/s}]}
contrasts:
  - {of: {platform: roomy}, against: {platform: container}}
cpus: {service: 0}
plan: {slice: 400ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0, interleave: slices, seed: 7}
";

const QUOTA_CPUS: f64 = 0.2;
/// A slice of four periods may begin with what is left of a fifth, and quota is handed out in parts to each CPU (CFS bandwidth control).
const MAX_CPUS: f64 = 0.45;

fn used_cpus(result: &RunResult, cell: &Cell) -> Vec<f64> {
    let slices = result.slices.iter().filter(|slice| slice.cell == cell.id);
    slices
        .map(|slice| {
            let (used, wall) = (slice.observations.service_cpu_ns(), slice.observations.wall_ns());
            used.expect("CPU time") as f64 / wall.expect("a length") as f64
        })
        .collect()
}

fn throttled(result: &RunResult, cell: &Cell) -> u64 {
    let slices = result.slices.iter().filter(|slice| slice.cell == cell.id);
    slices.filter_map(|slice| slice.observations.count("throttling.throttled_periods")).sum()
}

fn names(place: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(place) else { return BTreeSet::new() };
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn cells_contrasts_and_limits_are_those_of_the_file() {
    let place = Place::shared();
    place.write("cells.yaml", EXPERIMENT);
    let planned = place.run(["plan", "cells.yaml", "--json"]);
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    let document: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    let plan: Preview = serde_json::from_value(document["plan"].clone()).expect("a preview");

    let ended = place.run(["run", "cells.yaml", "--json", "-"]);
    ended.assert_measured();
    let result = ended.result();
    leftovers::assert_none(&place.store().label());

    let measured: Vec<(&str, &str, Role)> =
        result.cells.iter().map(|cell| (cell.label.as_str(), cell.load.as_str(), cell.role)).collect();
    let (closed, open) = (result.cells[0].load.as_str(), "20/s uniform");
    let expected = [
        ("container", closed, Role::Baseline),
        ("container′", closed, Role::Twin),
        ("host", closed, Role::Uncompared),
        ("roomy", closed, Role::Candidate),
        ("host", open, Role::Uncompared),
        ("roomy", open, Role::Uncompared),
    ];
    assert_eq!(measured, expected);
    assert!(result.cells.iter().all(|cell| cell.answered > 0));
    let [contrast] = &result.contrasts[..] else { panic!("one contrast, not {}", result.contrasts.len()) };
    let label = |cell: loadline_model::CellId| result.cells[cell].label.as_str();
    assert_eq!((label(contrast.candidate), label(contrast.baseline)), ("roomy", "container"));
    assert!(!contrast.rows.is_empty());

    // The common quota holds where nothing else is said, and not on the platform that has its own.
    for cell in &result.cells[0..3] {
        let used = used_cpus(&result, cell);
        assert!(used.iter().all(|used| *used < MAX_CPUS), "{} used {used:.2?} CPUs", cell.label);
        // Others may leave a service less than its quota.
        let got_its_quota = used.iter().any(|used| *used >= QUOTA_CPUS);
        assert!(throttled(&result, cell) > 0 || !got_its_quota, "{} was never held back", cell.label);
    }
    assert_eq!(throttled(&result, &result.cells[3]), 0, "roomy has CPUs enough");
    let note = result.notes.iter().find(|note| note.text.contains("have different limits or CPUs"));
    let note = &note.expect("a note of what differs").text;
    assert!(note.contains("2 CPUs") && note.contains("0.2 CPUs"), "{note}");

    // The first block was foreseen turn by turn.
    let first: Vec<_> = result
        .slices
        .iter()
        .filter(|slice| (slice.round, slice.block) == (0, 0))
        .map(|slice| slice.cell)
        .collect();
    let foreseen: Vec<_> = plan.first_block.iter().flat_map(|turn| turn.cells.clone()).collect();
    assert_eq!(foreseen, first);
    assert_eq!(plan.sites.len(), 4);
}

#[test]
fn a_plan_is_shown_and_nothing_is_started() {
    let place = Place::new();
    place.write("cells.yaml", EXPERIMENT);
    let mut command = place.start(["plan", "cells.yaml"]);
    while !command.has_ended() {
        assert_eq!(command.registered(), None, "no run is registered");
        std::thread::sleep(Duration::from_millis(1));
    }
    let shown = command.wait();
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for part in ["exclude:", "roomy", "Turns of the first block", "seed 7", "warm-ups", "together"] {
        assert!(shown.stdout.contains(part), "{part} is missing:\n{}", shown.stdout);
    }
    let files = ["cells.yaml", "stderr", "stdout"].map(str::to_owned);
    assert_eq!(names(place.dir.path()), BTreeSet::from(files), "no store is made, nor any other file");
}

#[test]
fn a_plan_asks_no_daemon_and_no_cluster() {
    let place = Place::new();
    let mut command = place.command(["plan", "--on", "host", "--on", "docker", "--on", "kubernetes"]);
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock").env("KUBECONFIG", "/nowhere/config");
    let shown = crate::support::place::ended(command.output().expect("the program starts"));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("orders on kubernetes"), "{}", shown.stdout);
    assert_eq!(names(place.dir.path()), BTreeSet::new());
}

#[test]
fn the_yaml_of_a_plan_is_an_experiment_of_its_own() {
    let place = Place::new();
    let flags =
        ["plan", "--on", "host", "--on", "container", "--rate", "100/min", "--limit-cpu", "0.5", "--json"];
    let document = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let from_flags = document(&place.run(flags).stdout);
    place.write("again.yaml", from_flags["yaml"].as_str().expect("YAML"));
    let again = place.run(["plan", "again.yaml", "--json"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(document(&again.stdout), from_flags);
}

#[test]
fn a_service_with_a_varied_value_is_one_for_each_of_its_values() {
    let place = Place::new();
    let services =
        ["plan", "--service", "orders --orders {n}", "--command", "python3 -m http.server {port} {n}"];
    let shown = place.run(services.into_iter().chain(["--vary", "n=1,5", "--request", "/", "--json"]));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let document: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let services = document["experiment"]["services"].as_array().expect("services");
    let names: Vec<&str> = services.iter().filter_map(|service| service["name"].as_str()).collect();
    assert_eq!(names, ["orders --orders 1", "orders --orders 5", "n=1", "n=5"]);
    assert_eq!(document["experiment"]["platforms"].as_array().map(Vec::len), Some(1), "the host");
}

#[test]
fn a_plan_is_of_a_file_or_of_flags() {
    let place = Place::new();
    place.write("cells.yaml", EXPERIMENT);
    for flag in [["--on", "host"], ["--service", "hello"], ["--slice", "1s"], ["--load-cpus", "1"]] {
        let refused = place.run(["plan", "cells.yaml"].into_iter().chain(flag));
        assert_eq!(refused.code, Some(2), "{flag:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("cannot be combined with"), "{}", refused.stderr);
    }
}
