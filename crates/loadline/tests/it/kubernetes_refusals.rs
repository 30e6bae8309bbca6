//! What can't be deployed on a cluster, as a user is told of it: within seconds, with what to do, while the other platforms are measured.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::support::cluster::{cluster, disturbed_cluster};
use crate::support::place::{Place, ended};
use crate::support::{BRIEF, leftovers};

/// Longest that a refusal may take.
const SECONDS: Duration = Duration::from_secs(30);

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
    let (cluster, place) = (&cluster(), Place::shared());
    let kubeconfig = place.path("nobody.kubeconfig").display().to_string();
    cluster.script("pki", &["user", "nobody", &kubeconfig]);
    refused(&place, &kubeconfig, "kubernetes", "namespaces");
}

#[test]
fn an_expired_kubeconfig_is_said_to_be() {
    let (cluster, place) = (&cluster(), Place::shared());
    let kubeconfig = place.path("expired.kubeconfig").display().to_string();
    cluster.script("pki", &["user", "late", &kubeconfig, "0"]);
    refused(&place, &kubeconfig, "kubernetes", "expired");
}

#[test]
fn a_cluster_whose_nodes_take_no_pod_says_so() {
    let (cluster, place) = (&disturbed_cluster(), Place::shared());
    cluster.kubectl(&["cordon", "node-1", "node-2"]);
    let outcome = std::panic::catch_unwind(|| refused(&place, &cluster.kubeconfig, "kubernetes", "no node"));
    cluster.kubectl(&["uncordon", "node-1", "node-2"]);
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

#[test]
fn an_image_that_no_node_has_is_said_and_the_others_go_on() {
    let (cluster, place) = (&cluster(), Place::shared());
    let image = "no.such.registry.example/shop/orders:1.2";
    let on = ["--on", "host", "--on", "kubernetes", "--on-failure", "continue"];
    let begun = Instant::now();
    let what = ["compare", "--service", "orders", "--image", image];
    let mut command = place.command(what.into_iter().chain(on).chain(BRIEF));
    let ended = ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"));
    ended.assert_went_on();
    assert!(ended.stdout.starts_with("1 of 2 was not measured: kubernetes.\n"), "{}", ended.stdout);
    place.run(["report", "--allow-missing"]).assert_measured();
    assert!(begun.elapsed() < SECONDS, "it took {:?}", begun.elapsed());
    for part in [image, "cannot be pulled", "check the name", "ctr -n k8s.io images import"] {
        assert!(ended.stderr.contains(part), "no `{part}` in: {}", ended.stderr);
    }
    assert_eq!(place.store().count("slice"), Some(8), "the host and its twin: {}", ended.stderr);
    leftovers::assert_none(&place.store().label());
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

#[test]
fn a_port_of_a_node_that_somebody_else_has_is_named_and_the_others_go_on() {
    let (cluster, place) = (&cluster(), Place::shared());
    place.write("taker.yaml", PORT_TAKER);
    let taker = place.path("taker.yaml").display().to_string();
    cluster.kubectl(&["apply", "-f", &taker]);
    // Somebody has it here too, where no pod of this run will be.
    let _here = TcpListener::bind(("0.0.0.0", 18_123)).expect("the port");
    place.write("taken.yaml", PORT_TAKEN);
    let mut command = place.command(["run", "taken.yaml"]);
    let ended = ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"));
    cluster.kubectl(&["delete", "--now", "-f", &taker]);
    ended.assert_went_on();
    for part in [
        "orders on kubernetes hostNetwork other-node: ",
        "didn't have free ports",
        "another pod on the node uses that host port",
    ] {
        assert!(ended.stderr.contains(part), "no `{part}` in: {}", ended.stderr);
    }
    assert_eq!(place.store().count("slice"), Some(4), "the first platform and its twin: {}", ended.stderr);
    leftovers::assert_none(&place.store().label());
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

/// A pod of somebody else that has a port of the second node.
const PORT_TAKER: &str = "
apiVersion: v1
kind: Pod
metadata: {name: port-taker, namespace: default}
spec:
  nodeName: node-2
  containers:
    - {name: c, image: 'localhost/pause:1', imagePullPolicy: Never, ports: [{containerPort: 80, hostPort: 18123}]}
";

/// Wants the same port, on the network of the second node.
const PORT_TAKEN: &str = "
service: {builtin: orders, port: 18123}
platforms: [pod, kubernetes: {expose: hostNetwork, placement: other-node}]
loads: [{rate: 300/s}]
plan: {slice: 200ms, blocks: 2, deployments: 1, warmup: 1s, repeats: 0, on_failure: continue}
";

#[test]
fn a_kubeconfig_that_is_not_there_is_named() {
    refused(&Place::new(), "/no/such/kubeconfig", "kubernetes", "/no/such/kubeconfig");
}
