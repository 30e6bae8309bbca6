//! Plugs pulled on a cluster in the middle of a run: each is said within seconds, the other cells go on, what was measured is kept, and
//! nothing is left behind.

mod support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use support::cluster::{Cluster, cluster};
use support::leftovers;
use support::place::{Ended, Place, ended};
use support::{BRIEF, wait_for};

/// Longest that a refusal may take.
const SECONDS: Duration = Duration::from_secs(30);

/// What goes on while the plugs are pulled: a site on the host and one in a pod.
const LONG: [&str; 18] = [
    "compare",
    "--on",
    "host",
    "--on",
    "kubernetes:podIP+other-node",
    "--no-twin",
    "--rate",
    "300/s",
    "--slice",
    "200ms",
    "--on-failure",
    "continue",
    "--repeats",
    "0",
    "--deployments",
    "1",
    "--warmup",
    "1s",
];

/// Starts a long run, does something to its pod once slices are measured, and returns how it ended.
fn meanwhile(place: &Place, cluster: &Cluster, blocks: &str, act: impl FnOnce(&str)) -> Ended {
    let mut command = place.command(LONG.into_iter().chain(["--blocks", blocks]));
    command.env("KUBECONFIG", &cluster.kubeconfig).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    place.wait_for_rows("slice", 4);
    act(&format!("loadline-{}", place.store().label()));
    ended(child.wait_with_output().expect("a child"))
}

/// The run went on without the pod, kept what it had measured, and left nothing.
fn assert_went_on(place: &Place, cluster: &Cluster, ended: &Ended, reason: &str, slices: usize) {
    ended.assert_measured();
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    let kept = place.store().count("slice").expect("a table");
    assert!(kept > slices, "only {kept} slices");
    assert_removed(place, cluster);
}

fn assert_removed(place: &Place, cluster: &Cluster) {
    leftovers::assert_none(&place.store().label());
    assert_eq!(cluster.namespaces(), "");
}

#[test]
fn a_pod_that_is_deleted_is_named_and_the_others_go_on() {
    let (cluster, place) = (cluster(), Place::alone());
    let ended = meanwhile(&place, cluster, "30", |namespace| {
        cluster.kubectl(&["delete", "pods", "--all", "--now", "--wait=false", "-n", namespace]);
    });
    assert_went_on(&place, cluster, &ended, "deleted", 30);
}

#[test]
fn an_api_server_that_is_killed_and_comes_back_ends_no_run() {
    let (cluster, place) = (cluster(), Place::alone());
    let ended = meanwhile(&place, cluster, "40", |_| {
        cluster.kill("api-server");
        std::thread::sleep(Duration::from_secs(2));
        cluster.script("api-server", &[]);
    });
    ended.assert_measured();
    assert_eq!(place.store().count("slice"), Some(80), "{}", ended.stderr);
    assert_removed(&place, cluster);
}

#[test]
fn a_nodes_kubelet_that_is_killed_ends_no_measuring_and_its_return_lets_everything_go() {
    let (cluster, place) = (cluster(), Place::alone());
    let ended = meanwhile(&place, cluster, "30", |_| {
        cluster.kill("node-2.kubelet");
        std::thread::sleep(Duration::from_secs(2));
        cluster.script("node", &["start", "node-2", "kubelet"]);
    });
    ended.assert_measured();
    assert_eq!(place.store().count("slice"), Some(60), "{}", ended.stderr);
    assert_removed(&place, cluster);
}

#[test]
fn a_run_that_is_killed_is_cleaned_up_after() {
    let (cluster, place) = (cluster(), Place::alone());
    let mut command = place.command(LONG.into_iter().chain(["--blocks", "100"]));
    let mut child = command.env("KUBECONFIG", &cluster.kubeconfig).spawn().expect("the program starts");
    place.wait_for_rows("slice", 2);
    child.kill().and_then(|()| child.wait()).expect("a child");
    assert_ne!(cluster.namespaces(), "", "a killed run leaves its namespace");
    let cleaned = ended(
        place.command(["clean"]).env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"),
    );
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(cleaned.stdout.contains("removed namespace"), "{}", cleaned.stdout);
    assert_removed(&place, cluster);
}

/// Runs what must be refused, within seconds, with a reason.
fn refused(place: &Place, kubeconfig: &str, on: &str, reason: &str) {
    let begun = Instant::now();
    let mut command =
        place.command(["compare", "--on", on, "--no-twin", "--on", "host"].into_iter().chain(BRIEF));
    let ended = ended(command.env("KUBECONFIG", kubeconfig).output().expect("the program starts"));
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains(reason), "no `{reason}` in: {}", ended.stderr);
    assert!(begun.elapsed() < SECONDS, "it took {:?}", begun.elapsed());
    leftovers::assert_none(&place.store().label());
}

#[test]
fn whoever_has_no_rights_is_told_which_are_missing() {
    let (cluster, place) = (cluster(), Place::alone());
    let kubeconfig = place.path("nobody.kubeconfig").display().to_string();
    cluster.script("pki", &["user", "nobody", &kubeconfig]);
    refused(&place, &kubeconfig, "kubernetes", "namespaces");
}

#[test]
fn an_expired_kubeconfig_is_said_to_be() {
    let (cluster, place) = (cluster(), Place::alone());
    let kubeconfig = place.path("expired.kubeconfig").display().to_string();
    cluster.script("pki", &["user", "late", &kubeconfig, "0"]);
    refused(&place, &kubeconfig, "kubernetes", "expired");
}

#[test]
fn a_cluster_whose_nodes_take_no_pod_says_so() {
    let (cluster, place) = (cluster(), Place::alone());
    cluster.kubectl(&["cordon", "node-1", "node-2"]);
    let outcome = std::panic::catch_unwind(|| refused(&place, &cluster.kubeconfig, "kubernetes", "no node"));
    cluster.kubectl(&["uncordon", "node-1", "node-2"]);
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert_eq!(cluster.namespaces(), "");
}

#[test]
fn a_node_that_is_gone_is_waited_for_by_nobody() {
    let (cluster, place) = (cluster(), Place::alone());
    wait_for("both nodes", || {
        let ready = cluster.kubectl(&["get", "nodes"]);
        (ready.matches(" Ready ").count() == 2).then_some(())
    });
    refused(&place, "/no/such/kubeconfig", "kubernetes", "/no/such/kubeconfig");
}
