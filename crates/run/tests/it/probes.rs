//! A probe that nobody but its own declaration says anything of: through a run into the store, the analysis and the reports.

use loadline_model::Observations;
use loadline_model::experiment::Interleave;
use loadline_model::metrics::{HigherIs, MetricDeclaration, MetricKind, Unit};
use loadline_model::pauses::Pauses;
use loadline_observe::{AnyProbe, Probe, Target, probes};
use loadline_report::{Style, csv_slices, json, terminal};

use crate::fake::{World, experiment, with};

/// Reads a garbage collector that pauses for a millisecond from one reading to the next.
#[derive(Default)]
struct Collector {
    pauses: u64,
}

impl Probe for Collector {
    type Reading = u64;

    fn name(&self) -> &'static str {
        "collector"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        vec![
            MetricDeclaration::counter("vm.gc.pause", Unit::Nanoseconds)
                .shown_as("GC pauses", HigherIs::Slower)
                .primary(),
            MetricDeclaration::level("vm.heap", Unit::Bytes).shown_as("heap", HigherIs::Costlier),
            MetricDeclaration::counter("vm.node.faults", Unit::Count)
                .of_the_machine()
                .shown_as("page faults of the node", HigherIs::More),
        ]
    }

    fn read(&mut self, _: &Target<'_>) -> Option<u64> {
        self.pauses += 1;
        Some(self.pauses)
    }

    fn between(&self, before: &u64, after: &u64, seen: &mut Observations) {
        seen.set("vm.gc.pause", (after - before) * 1_000_000);
        seen.set("vm.heap", 64 << 20);
        seen.set("vm.node.faults", 9);
    }
}

fn collector() -> Vec<Box<dyn AnyProbe>> {
    vec![Box::new(Collector::default())]
}

/// A run in which every service has a collector.
fn run(experiment: loadline_model::experiment::Experiment) -> World {
    let mut world = World::new(experiment);
    for site in 0..3 {
        world = world.site(site, |site| site.probes = collector);
    }
    world.run().unwrap();
    world
}

/// What others took of the services' CPUs.
fn taken() -> MetricDeclaration {
    MetricDeclaration::counter("cpu.taken", Unit::Nanoseconds).of_the_measurement()
}

#[test]
fn its_metrics_are_in_every_slice_and_declared_with_the_run() {
    let world = run(experiment());
    for slice in world.journal.slices.borrow().iter() {
        let seen = &slice.observations;
        assert_eq!((seen.count("vm.gc.pause"), seen.count("vm.heap")), (Some(1_000_000), Some(64 << 20)));
        assert_eq!(seen.count("vm.node.faults"), Some(9));
    }
    let declared = world.journal.metrics.borrow();
    let own = [probes::metrics(), Pauses::metrics(), vec![taken()]].concat();
    assert_eq!(declared[..own.len()], own);
    let kept = &declared[own.len()..];
    assert_eq!(kept, Probe::metrics(&Collector::default()), "once, behind loadline's own");
}

#[test]
fn stored_and_read_again_they_are_figures_and_contrasts() {
    let result = run(experiment()).result();
    let declared: Vec<&MetricDeclaration> =
        result.metrics.iter().filter(|metric| metric.name.starts_with("vm.")).collect();
    let names: Vec<&str> = declared.iter().map(|metric| metric.name.as_ref()).collect();
    assert_eq!(names, ["vm.gc.pause", "vm.heap", "vm.node.faults"]);
    assert_eq!(declared[1].kind, MetricKind::Level);
    let of_cell = |id: &str| result.cells[0].figures.iter().find(|figure| figure.metric == id).unwrap();
    let requests_per_slice = 200.0;
    assert_eq!(of_cell("vm.gc.pause").value, 1_000_000.0 / requests_per_slice);
    assert_eq!(of_cell("vm.heap").value, f64::from(64 << 20));
    for contrast in result.contrasts.iter().chain(&result.noise) {
        let row = contrast.rows.iter().find(|row| row.metric == "vm.gc.pause").unwrap();
        assert_eq!((row.label.as_str(), row.primary, row.unit), ("GC pauses", true, Unit::Nanoseconds));
        assert_eq!(row.difference, 0.0);
        assert!(contrast.rows.iter().any(|row| row.metric == "vm.node.faults" && !row.primary));
    }
}

#[test]
fn tables_json_and_csv_have_them() {
    let result = run(experiment()).result();
    let table = terminal(
        &result,
        &Style { colour: false, width: 100, full: false, by_request: false, spectrum: false },
    );
    let row = table.lines().find(|line| line.contains("GC pauses")).unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains("5.0") || row.contains('5'), "5 µs a request: {row}");

    let mut written = Vec::new();
    json(&result, &mut written).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(document["slices"][0]["observations"]["vm.gc.pause"], 1_000_000);
    let declared = document["metrics"].as_array().unwrap();
    assert!(declared.iter().any(|metric| metric["name"] == "vm.gc.pause" && metric["unit"] == "ns"));

    let mut csv = Vec::new();
    csv_slices(&result, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let (head, rows) = csv.split_once('\n').unwrap();
    let column =
        head.split(',').position(|name| name == "vm.gc.pause_ns").unwrap_or_else(|| panic!("{head}"));
    assert!(head.split(',').any(|name| name == "vm.heap_bytes"), "{head}");
    assert_eq!(rows.lines().next().unwrap().split(',').nth(column), Some("1000000"));
}

#[test]
fn side_by_side_what_is_the_services_stays_and_what_is_the_machines_goes() {
    let world = run(with(|plan| plan.interleave = Interleave::Requests));
    assert_eq!(world.journal.together.borrow().len(), 3, "side by side");
    for slice in world.journal.slices.borrow().iter() {
        let seen = &slice.observations;
        assert_eq!((seen.count("vm.gc.pause"), seen.count("vm.heap")), (Some(1_000_000), Some(64 << 20)));
        assert_eq!((seen.get("vm.node.faults"), seen.get("cpu.machine.user")), (None, None));
        assert!(seen.wall_ns().is_some(), "the length is that of each");
    }
    let result = world.result();
    let rows = &result.contrasts[0].rows;
    assert!(rows.iter().any(|row| row.metric == "vm.gc.pause"));
    assert!(rows.iter().all(|row| row.metric != "vm.node.faults"), "no figure rather than zero");
}
