//! Language runtimes that are set up badly, on each platform: what loadline sees of them tells what is wrong.

use std::process::Command;

use loadline_model::result::{Cell, RunResult};

use crate::docker::Harbour;
use crate::support::cluster::cluster;
use crate::support::place::{Place, ended};
use crate::support::{go, leftovers};

/// Threads that run Go code at a time, far more than the CPU limit.
const GOMAXPROCS: &str = "8";
/// Little enough to be used up.
const QUOTA: &str = "0.3";
/// The name of the Go program without symbols.
const STRIPPED: &str = "stripped";
/// The name of the service that is set up badly.
const SMALL: &str = "small";
/// Set up well. G1 starts with a young generation of 12 MiB and grows it with the requests, of which a slow machine has few.
const LARGE: &str = "heap: 256m, gc: g1, options: [-Xmn128m]";
const CONTAINERS: &str = "docker, {docker: {network: host}}";

fn figure(cell: &Cell, metric: &str) -> f64 {
    let found = cell.figures.iter().find(|figure| figure.metric == metric);
    found.unwrap_or_else(|| panic!("{} has no {metric}", cell.label)).value
}

/// Measures services, each described in YAML, on these platforms.
fn measured(place: &Place, services: &str, platforms: &str, environment: &[(&str, &str)]) -> RunResult {
    place.write(
        "experiment.yaml",
        &format!(
            "services: [{services}]\nplatforms: [{platforms}]\nlimits: {{cpu: {QUOTA}}}\ncpus: {{service: all}}\n\
            loads: [{{closed: true, connections: 4}}]\n\
            plan: {{slice: 300ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0, twin: false}}\n"
        ),
    );
    let mut command = place.command(["run", "experiment.yaml", "--json", "-"]);
    command.envs(environment.iter().copied());
    let ended = ended(command.output().expect("the program starts"));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    ended.result()
}

fn assert_threads_above_the_quota_are_seen(result: &RunResult) {
    assert_eq!(result.runtimes.len(), result.cells.len(), "{:?}", result.notes);
    for runtime in &result.runtimes {
        assert_eq!(runtime.facts["go.gomaxprocs"], GOMAXPROCS, "{runtime:?}");
        assert!(runtime.unseen.is_empty(), "{runtime:?}");
    }
    for cell in &result.cells {
        assert!(figure(cell, "go.gc.collections") > 0.0, "{}", cell.label);
        assert_eq!(figure(cell, "go.gomaxprocs"), 8.0, "{}", cell.label);
        assert!(figure(cell, "go.gc.pause") > 0.0, "{}", cell.label);
        let is_traced = cell.label.contains(STRIPPED);
        assert_eq!(
            cell.figures.iter().any(|figure| figure.metric == "go.heap.live"),
            !is_traced,
            "{}",
            cell.label
        );
        if is_traced {
            assert!(
                figure(cell, "go.gc.cpu") > 0.0 && figure(cell, "go.heap.marked") > 0.0,
                "{}",
                cell.label
            );
        }
        assert!(figure(cell, "cpu.throttled") > 0.0, "{} was never held back", cell.label);
    }
}

/// The service whose heap is too small and whose collector is that of small machines, beside the one that is set up well.
fn assert_a_small_heap_and_its_collector_are_seen(result: &RunResult) {
    assert_eq!(result.runtimes.len(), result.cells.len(), "{:?}", result.notes);
    for runtime in &result.runtimes {
        let (collector, heap) = if runtime.label.contains(SMALL) { ("Serial", 24) } else { ("G1", 256) };
        assert_eq!(runtime.facts["jvm.collector"], collector, "{runtime:?}");
        assert_eq!(runtime.facts["jvm.heap.max"], (heap << 20).to_string(), "{runtime:?}");
        assert!(runtime.unseen.is_empty(), "{runtime:?}");
        if collector == "Serial" {
            // Nobody asked for it: the JVM sees less than two CPUs.
            assert_eq!(runtime.facts["jvm.flag.UseSerialGC"], "true (ergonomic)", "{runtime:?}");
        }
    }
    let (small, large): (Vec<&Cell>, Vec<&Cell>) =
        result.cells.iter().partition(|cell| cell.label.contains(SMALL));
    assert_eq!(small.len(), large.len());
    for (small, large) in small.into_iter().zip(large) {
        // A heap of 24 MiB whose requests each take one has a collection every few requests.
        let collections = figure(small, "jvm.gc.collections");
        assert!((0.02..1.0).contains(&collections), "{}: {collections}", small.label);
        assert!(figure(small, "jvm.gc.pause") > 0.0, "{}", small.label);
        assert!(figure(small, "jvm.heap.committed") <= f64::from(24 << 20), "{}", small.label);
        let of_large = figure(large, "jvm.gc.collections");
        assert!(of_large < collections / 2.0, "{}: {of_large}, {collections}", large.label);
    }
}

/// The Go program with its symbols, and without them.
fn go_programs(place: &Place) -> [String; 2] {
    let built = go::build(place, "makes-garbage", "language_runtimes");
    [built, go::build_stripped(place, STRIPPED, "language_runtimes")]
}

/// The Go service, with more threads than its CPU limit has room for. Without symbols it prints its collections.
fn go_services([program, stripped]: &[String; 2]) -> String {
    format!(
        "{{command: '{program} {{host}}:{{port}}', go: {{gomaxprocs: {GOMAXPROCS}}}}}, \
        {{name: {STRIPPED}, command: '{stripped} {{host}}:{{port}}', go: {{gomaxprocs: {GOMAXPROCS}, gctrace: true}}}}"
    )
}

/// Compiles the Java service; returns its folder.
fn java_folder(place: &Place) -> String {
    let folder = place.path("service").display().to_string();
    let source = format!("{}/tests/it/language_runtimes/Service.java", env!("CARGO_MANIFEST_DIR"));
    let built = Command::new("javac").args([&source, "-d", &folder]).output().expect("a JDK");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder
}

/// The Java service with a heap that is too small and the collector that the JVM chooses, and the same set up well.
fn java_services(folder: &str, image: &str) -> String {
    let service = |name: &str, jvm: &str| {
        format!(
            "{{name: {name}, command: 'java -cp {folder} Service {{host}} {{port}}', jvm: {{{jvm}}}{image}}}"
        )
    };
    format!("{}, {}", service(SMALL, "heap: 24m"), service("large", LARGE))
}

#[test]
fn threads_above_the_quota_are_seen_in_a_process() {
    let place = Place::shared();
    let services = go_services(&go_programs(&place));
    assert_threads_above_the_quota_are_seen(&measured(&place, &services, "host, pod", &[]));
}

#[test]
fn threads_above_the_quota_are_seen_in_a_container() {
    let harbour = Harbour::new();
    let services = go_services(&go_programs(&harbour.place));
    let endpoint = harbour.engine.endpoint();
    let result = measured(&harbour.place, &services, CONTAINERS, &[("DOCKER_HOST", &endpoint)]);
    assert_threads_above_the_quota_are_seen(&result);
}

#[test]
fn threads_above_the_quota_are_seen_in_pods() {
    let (cluster, place) = (&cluster(), Place::shared());
    let programs = go_programs(&place);
    for program in &programs {
        let archive = format!("{program}.tar");
        let made = place.run(["image", "-o", &archive, program]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        cluster.script("load", &[&archive]);
    }
    let pods = "kubernetes, {kubernetes: {expose: podIP, placement: other-node}}";
    let result = measured(&place, &go_services(&programs), pods, &[("KUBECONFIG", &cluster.kubeconfig)]);
    assert_threads_above_the_quota_are_seen(&result);
}

#[test]
fn a_small_heap_is_seen_in_a_process() {
    let place = Place::shared();
    let services = java_services(&java_folder(&place), "");
    assert_a_small_heap_and_its_collector_are_seen(&measured(&place, &services, "host, pod", &[]));
}

/// An image of the Java service; returns the archive.
fn java_image(place: &Place, folder: &str) -> String {
    let archive = place.path("service.tar").display().to_string();
    let made =
        place.run(["image", folder, "--with", "java", "-o", &archive, "--", "java", "-cp", ".", "Service"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    archive
}

/// In a container the command's arguments are those of the image's program.
fn java_containers(archive: &str) -> String {
    java_services(".", &format!(", image: {{archive: {archive}}}"))
}

#[test]
fn a_small_heap_is_seen_in_a_container() {
    let harbour = Harbour::new();
    let archive = java_image(&harbour.place, &java_folder(&harbour.place));
    let endpoint = harbour.engine.endpoint();
    let result =
        measured(&harbour.place, &java_containers(&archive), CONTAINERS, &[("DOCKER_HOST", &endpoint)]);
    assert_a_small_heap_and_its_collector_are_seen(&result);
}

#[test]
fn a_small_heap_is_seen_in_pods() {
    let (cluster, place) = (&cluster(), Place::shared());
    let archive = java_image(&place, &java_folder(&place));
    cluster.script("load", &[&archive]);
    let pods = "kubernetes, {kubernetes: {expose: podIP, placement: other-node}}";
    let environment = [("KUBECONFIG", cluster.kubeconfig.as_str())];
    let result = measured(&place, &java_containers(&archive), pods, &environment);
    assert_a_small_heap_and_its_collector_are_seen(&result);
}

#[test]
fn runtimes_that_hide_are_measured_and_what_was_not_seen_is_said() {
    let place = Place::shared();
    let (folder, go) = (java_folder(&place), go::build_stripped(&place, "stripped", "language_runtimes"));
    let services = format!(
        "{{name: JVM, command: 'java -cp {folder} Service {{host}} {{port}}', jvm: {{options: ['-XX:+PerfDisableSharedMem']}}}}, \
        {{name: Go, command: '{go} {{host}}:{{port}}'}}"
    );
    let result = measured(&place, &services, "host", &[]);
    let [jvm, go] = &result.runtimes[..] else { panic!("{:?}", result.runtimes) };
    let hidden = [(jvm, "the JVM keeps no performance data"), (go, "the Go program has no symbols")];
    for (runtime, why) in hidden {
        assert!(matches!(&runtime.unseen[..], [said] if said.text.starts_with(why)), "{runtime:?}");
    }
    for cell in &result.cells {
        assert!(figure(cell, "response.p50") > 0.0, "{}", cell.label);
        let metrics = cell.figures.iter().map(|figure| &*figure.metric);
        let inside: Vec<&str> =
            metrics.filter(|name| ["jvm.", "go."].iter().any(|of| name.starts_with(of))).collect();
        // The kernel tells what the compiler's threads use.
        let of_kernel: &[&str] = if cell.service == "JVM" { &["jvm.jit"] } else { &[] };
        assert_eq!(inside, of_kernel, "{}", cell.label);
    }
    let shown = place.run(["report"]);
    for (_, why) in hidden {
        assert!(shown.stdout.contains(why), "{}", shown.stdout);
    }
}
