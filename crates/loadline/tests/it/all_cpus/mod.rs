//! `--service-cpus all`: a program that counts its CPUs sees those of the machine on every platform, and its quota holds.

use loadline_model::result::RunResult;

use crate::docker::Harbour;
use crate::support::cluster::cluster;
use crate::support::place::{Ended, Place, ended};
use crate::support::{BRIEF, go, leftovers};

/// So little that the service uses it up beside whatever else the machine does.
const QUOTA: &str = "0.2";
/// A slice of two periods may begin with what is left of a third, and quota is handed out in parts to each CPU (CFS bandwidth control).
const MOST_CPUS: f64 = 0.45;

fn program(place: &Place) -> String {
    go::build(place, "sees-cpus", "all_cpus")
}

/// Arguments that measure the service with its quota, asked for all CPUs.
fn arguments(program: &str, cpus: &str, on: &[&str]) -> Vec<String> {
    let all = std::thread::available_parallelism().expect("a number of CPUs").get();
    let command = format!("{} {{host}}:{{port}} {all}", program);
    let fixed = ["compare", "--command", &command, "--request", "/burn", "--closed", "--connections", "4"];
    let limits = ["--limit-cpu", QUOTA, "--service-cpus", cpus];
    let on = on.iter().flat_map(|platform| ["--on", platform]);
    let words = fixed.into_iter().chain(limits).chain(on).chain(BRIEF).chain(["--no-twin", "--json", "-"]);
    words.map(str::to_owned).collect()
}

fn assert_held_to_its_quota(result: &RunResult) {
    assert!(!result.slices.is_empty());
    for slice in &result.slices {
        let seen = &slice.observations;
        let (used, wall) = (seen.service_cpu_ns().expect("CPU time"), seen.wall_ns().expect("a length"));
        let cpus = used as f64 / wall as f64;
        assert!(cpus < MOST_CPUS, "{cpus:.2} CPUs used with a quota of {QUOTA}");
    }
    let throttled =
        result.slices.iter().filter_map(|slice| slice.observations.count("throttling.throttled_periods"));
    assert!(throttled.sum::<u64>() > 0, "it was never held back");
}

fn run(place: &Place, arguments: &[String], environment: Option<(&str, &str)>) -> Ended {
    let mut command = place.command(arguments.iter().map(String::as_str));
    command.envs(environment);
    ended(command.output().expect("the program starts"))
}

#[test]
fn a_process_sees_all_cpus_and_is_held_to_its_quota() {
    let place = Place::shared();
    let program = program(&place);
    let ended = run(&place, &arguments(&program, "all", &["host", "pod"]), None);
    ended.assert_measured();
    assert_held_to_its_quota(&ended.result());
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_process_that_is_pinned_does_not_see_them() {
    let place = Place::shared();
    let program = program(&place);
    let ended = run(&place, &arguments(&program, "0", &["host", "pod"]), None);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("sees 1 CPUs"), "{}", ended.stderr);
}

#[test]
fn a_container_sees_all_cpus_and_is_held_to_its_quota() {
    let harbour = Harbour::new();
    let program = program(&harbour.place);
    let endpoint = harbour.engine.endpoint();
    let ended = run(
        &harbour.place,
        &arguments(&program, "all", &["docker", "docker:host"]),
        Some(("DOCKER_HOST", &endpoint)),
    );
    ended.assert_measured();
    assert_held_to_its_quota(&ended.result());
}

#[test]
fn a_pod_sees_all_cpus_and_is_held_to_its_quota() {
    let (cluster, place) = (&cluster(), Place::shared());
    let program = program(&place);
    let archive = place.path("image.tar").display().to_string();
    let image = ["image", "-o", &archive, &program].map(str::to_owned);
    let made = run(&place, &image, None);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    cluster.script("load", &[&archive]);
    let ended = run(
        &place,
        &arguments(&program, "all", &["kubernetes", "kubernetes:podIP+other-node"]),
        Some(("KUBECONFIG", &cluster.kubeconfig)),
    );
    ended.assert_measured();
    assert_held_to_its_quota(&ended.result());
}
