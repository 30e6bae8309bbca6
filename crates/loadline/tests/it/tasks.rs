//! `docs/tasks.md` from beginning to end, with shorter runs, and in no more commands than it says.

use std::process::Command;

use crate::docker::Harbour;
use crate::support::cluster::cluster;
use crate::support::page::{Step, run_in_shell, steps, write};
use crate::support::place::{Ended, Place, ended};
use crate::support::{BRIEF, PROGRAM, leftovers};

/// Enough blocks and deployments for a claim.
const CLAIMING: [&str; 10] =
    ["--slice", "300ms", "--blocks", "4", "--deployments", "4", "--warmup", "1s", "--repeats", "2"];

/// Writes the files of a task, and returns its commands.
fn begun(place: &Place, task: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for step in steps("tasks.md", task) {
        match step {
            Step::Write(file, text) => write(place, &file, &text),
            Step::Type(line) => commands.push(line),
        }
    }
    commands
}

/// The words of a command of loadline's, and those that make it short.
fn words(line: &str, plan: &[&str]) -> Vec<String> {
    let own = line.strip_prefix("loadline ").unwrap_or_else(|| panic!("not loadline's: {line}"));
    let more = plan.iter().map(|word| (*word).to_owned());
    shlex::split(own).expect("words").into_iter().chain(more).collect()
}

fn run(place: &Place, line: &str, plan: &[&str]) -> Ended {
    place.run(words(line, plan).iter().map(String::as_str))
}

#[test]
fn ones_own_service_runs_on_the_host_in_a_pod_in_docker_and_in_a_cluster_of_two_nodes() {
    let cluster = cluster();
    // The cluster is on the machine, where this test's first thread stays; the daemon is in a network of its own.
    let machine = format!("--net=/proc/{}/ns/net", std::process::id());
    let harbour = Harbour::new();
    let place = &harbour.place;
    let commands = begun(place, "Your own service on the host, in a pod, in Docker and on Kubernetes");
    let [image, on_docker, import, on_kubernetes] = &commands[..] else {
        panic!("four commands: {commands:?}")
    };

    run(place, image, &[]).assert_measured();
    let compared = harbour.run(words(on_docker, &BRIEF).iter().map(String::as_str));
    compared.assert_measured();
    assert!(compared.stdout.contains("docker"), "{}", compared.stdout);
    // Each node of the tests' cluster has a containerd of its own.
    let archive = import.strip_prefix("ctr -n k8s.io images import ").expect("the nodes get the archive");
    cluster.script("load", &[&place.path(archive).display().to_string()]);
    let mut outside = Command::new("nsenter");
    outside.args([&machine, PROGRAM]).args(words(on_kubernetes, &BRIEF));
    outside.current_dir(place.path(".")).env("KUBECONFIG", &cluster.kubeconfig);
    let compared = ended(outside.output().expect("nsenter"));
    compared.assert_measured();
    assert!(compared.stdout.contains("host against kubernetes"), "{}", compared.stdout);
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_ci_job_fails_because_the_new_one_is_slower() {
    let place = Place::shared();
    let commands = begun(&place, "Old against new, in a CI job that fails");
    let [compare] = &commands[..] else { panic!("one command: {commands:?}") };
    let compared = run(&place, compare, &CLAIMING);
    let junit = std::fs::read_to_string(place.path("result.xml")).expect("a file");
    match compared.code {
        Some(4) => assert!(junit.contains("<failure"), "{junit}"),
        // The machine was too busy to tell, and says so.
        Some(3) => assert!(compared.stdout.starts_with("This run can't be trusted"), "{}", compared.stdout),
        other => panic!("{other:?}: {}\n{}", compared.stdout, compared.stderr),
    }
}

#[test]
fn throttling_is_found_by_its_limit() {
    let place = Place::shared();
    let commands = begun(&place, "Is it throttled?");
    let [compare] = &commands[..] else { panic!("one command: {commands:?}") };
    let compared = run(&place, compare, &BRIEF);
    assert!(matches!(compared.code, Some(0 | 3)), "{}", compared.stderr);
    let said = compared.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("Throttled by the CPU limit:") && said.contains("(limit 0.3, "),
        "{}",
        compared.stdout
    );
}

#[test]
fn two_weighted_requests_go_to_a_service_over_https() {
    let place = Place::shared();
    let commands = begun(&place, "An https service with two requests");
    let [certificate, compare] = &commands[..] else { panic!("two commands: {commands:?}") };
    run_in_shell(&place, certificate);
    let compared = run(&place, compare, &BRIEF);
    compared.assert_measured();
    for line in ["GET /a: response p50", "GET /b: response p50", "errors 0 ✓"] {
        assert!(compared.stdout.contains(line), "no `{line}` in {}", compared.stdout);
    }
}

#[test]
fn each_layer_of_a_pods_path_has_its_cost() {
    let place = Place::shared();
    let commands = begun(&place, "Which layer costs it?");
    let [layers] = &commands[..] else { panic!("one command: {commands:?}") };
    let measured = run(&place, layers, &BRIEF);
    measured.assert_measured();
    for layer in ["veth", "bridge", "conntrack", "nodeport"] {
        assert!(measured.stdout.contains(layer), "no {layer} in {}", measured.stdout);
    }
}
