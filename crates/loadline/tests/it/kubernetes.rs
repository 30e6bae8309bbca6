//! Kubernetes as a user has it, on the real cluster of `tests/cluster`: every way into a pod is measured beside the host, from here and
//! from inside the cluster, and nothing of it is left.

use std::fs;
use std::process::Child;

use crate::support::cluster::{Cluster, cluster, cluster_apart};
use crate::support::place::{Ended, Place, ended};
use crate::support::{assert_whole, leftovers, wait_for};

/// As little measuring as shows that everything works.
const BRIEF_PLAN: &str = "plan: {slice: 200ms, blocks: 2, deployments: 1, warmup: 1s, repeats: 0}";

/// Runs an experiment of the `orders` service on these platforms.
fn measure(place: &Place, cluster: &Cluster, platforms: &str) -> Ended {
    place.write(
        "experiment.yaml",
        &format!(
            "service: {{builtin: orders}}\nlimits: {{cpu: 1, memory: 256Mi}}\nplatforms:\n{platforms}\n\
             loads: [{{rate: 500/s, connections: 4}}]\n{BRIEF_PLAN}\n"
        ),
    );
    let mut command = place.command(["run", "experiment.yaml", "--json", "-"]);
    ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"))
}

fn assert_removed(place: &Place, cluster: &Cluster) {
    leftovers::assert_none(&place.store().label());
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

#[test]
fn every_way_into_a_pod_is_measured_observed_and_removed() {
    let (cluster, place) = (&cluster(), Place::shared());
    let ended = measure(
        &place,
        cluster,
        "  - host
  - kubernetes
  - kubernetes: {expose: clusterIP}
  - kubernetes: {expose: podIP, placement: same-node}
  - kubernetes: {expose: podIP, placement: other-node}
  - kubernetes: {expose: hostNetwork, placement: same-node}
  - kubernetes: {expose: hostPort, placement: other-node}
  - kubernetes: {expose: nodePort, static: true}
  - kubernetes: {expose: nodePort, services: 20}",
    );
    ended.assert_measured();
    let result = ended.result();
    assert_whole(&result, 10);
    for start in result.starts.iter().filter(|start| start.label != "host") {
        let names: Vec<&str> = start.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert!(names.contains(&"started") && names.contains(&"ready"), "{}: {names:?}", start.label);
        assert!(start.idle_memory_bytes.is_some_and(|bytes| bytes > 100_000), "{}", start.label);
    }
    assert!(result.surroundings["kubernetes"].summary.contains("1.34.4"), "{:?}", result.surroundings);
    assert_removed(&place, cluster);
}

#[test]
fn a_cluster_in_namespaces_of_its_own_is_reached_by_a_wire_beside_the_one_that_is_not() {
    let (cluster, apart, place) = (&cluster(), &cluster_apart("apart"), Place::shared());
    let file = &apart.kubeconfig;
    let ended = measure(
        &place,
        cluster,
        &format!(
            "  - host
  - {{name: here, kubernetes: {{expose: nodePort, placement: same-node}}}}
  - {{name: apart, kubernetes: {{kubeconfig: {file}, expose: nodePort, placement: same-node}}}}
  - {{name: apart by its Service, kubernetes: {{kubeconfig: {file}, expose: clusterIP, placement: other-node}}}}
  - {{name: apart on the other node, kubernetes: {{kubeconfig: {file}, expose: podIP, placement: other-node}}}}"
        ),
    );
    ended.assert_measured();
    let result = ended.result();
    assert_whole(&result, 6);
    // The client is on a node of both.
    for name in ["here", "apart"] {
        let facts = &result.surroundings[name].facts;
        assert_eq!(
            (&facts["nodes"][0]["name"], &facts["nodes"][0]["here"]),
            (&"node-1".into(), &true.into())
        );
    }
    let label = place.store().label();
    assert_removed(&place, cluster);
    assert!(!apart.has_namespace_of(&label));
    let links = apart.script("node", &["run", "node-1", "ip", "-o", "link"]);
    assert!(!links.contains(&format!("ll{label}")), "{links}");
}

/// Whether the cluster's own programs are stopped, in whichever version of cgroups.
fn is_stopped(cluster: &Cluster) -> bool {
    let name = cluster.folder().file_name().expect("a name").to_string_lossy().into_owned();
    let says = |file: &str, word: &str| {
        fs::read_to_string(file).is_ok_and(|text| text.lines().any(|line| line == word))
    };
    let system = format!("{name}/system");
    says(&format!("/sys/fs/cgroup/freezer/{system}/freezer.state"), "FROZEN")
        || ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
            .iter()
            .any(|root| says(&format!("{root}/{system}/cgroup.events"), "frozen 1"))
}

/// Measures long slices on a cluster that is stopped meanwhile; returns once it is.
fn stopped_by_a_run(place: &Place, cluster: &Cluster) -> Child {
    place.write(
        "experiment.yaml",
        "service: {builtin: orders}\nplatforms: [{kubernetes: {quiesce: true}}]\nloads: [{rate: 200/s}]\n\
         plan: {slice: 2s, blocks: 3, deployments: 1, warmup: 1s, repeats: 0}\n",
    );
    let mut command = place.command(["run", "experiment.yaml"]);
    let child = command.env("KUBECONFIG", &cluster.kubeconfig).spawn().expect("the program starts");
    wait_for("the cluster to be stopped", || is_stopped(cluster).then_some(()));
    child
}

#[test]
fn a_cluster_for_tests_is_stopped_while_slices_are_measured_and_goes_on_after_them() {
    let (apart, place) = (&cluster_apart("quiet"), Place::shared());
    let status = stopped_by_a_run(&place, apart).wait().expect("a child");
    assert!(matches!(status.code(), Some(0 | 3)), "{status}");
    assert!(!is_stopped(apart));
    assert_removed(&place, apart);
    let report = place.run(["report"]);
    assert!(report.stdout.contains("the cluster's own programs are stopped"), "{}", report.stdout);
    apart.kubectl(&["annotate", "nodes", "--all", "loadline.system-"]);
    let mut command = place.command(["run", "experiment.yaml"]);
    let refused = ended(command.env("KUBECONFIG", &apart.kubeconfig).output().expect("the program starts"));
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("their annotation loadline.system"), "{}", refused.stderr);
}

#[test]
fn a_cluster_that_a_killed_run_has_stopped_goes_on_once_it_is_cleaned_up_after() {
    let (apart, place) = (&cluster_apart("killed"), Place::cleaning());
    let mut child = stopped_by_a_run(&place, apart);
    child.kill().and_then(|()| child.wait()).expect("a child");
    assert!(is_stopped(apart), "it was killed within a slice");
    let cleaned = place.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(!is_stopped(apart));
    assert_removed(&place, apart);
}

#[test]
fn load_and_observers_may_be_in_the_cluster() {
    let (cluster, place) = (&cluster(), Place::shared());
    let ended = measure(
        &place,
        cluster,
        "  - kubernetes: {expose: podIP, load_from: cluster, placement: same-node}
  - kubernetes: {expose: podIP, load_from: cluster, placement: other-node}",
    );
    ended.assert_measured();
    assert_whole(&ended.result(), 3);
    assert_removed(&place, cluster);
}

#[test]
fn an_agent_in_the_cluster_drives_every_load() {
    let (cluster, place) = (&cluster(), Place::shared());
    place.write("times.txt", "0\n1ms\n1ms\n50ms\n0.19\n");
    place.write("users.csv", "id\n17\n4\n");
    place.write(
        "experiment.yaml",
        &format!(
            "service: {{builtin: orders, requests: ['/api/orders?user={{{{id}}}}'], feed: users.csv, expect: [status=2xx, 'body~[']}}
platforms: [{{kubernetes: {{expose: podIP, load_from: cluster, placement: same-node}}}}]
loads:
  - {{rate: '0/s..400/s@200ms', arrivals: uniform}}
  - {{replay: times.txt}}
  - {{closed: true, connections: 2, think: '5ms:fixed'}}
  - {{rate: 100/s, arrivals: uniform, new_connections: true}}
  - {{rate: 100/s, arrivals: uniform, requests_per_connection: 3}}
  - {{rate: 100/s, arrivals: uniform, timestamps: kernel, timeout: 5s}}
{}
",
            BRIEF_PLAN.replace('}', ", interleave: slices}")
        ),
    );
    let mut command = place.command(["run", "experiment.yaml", "--json", "-"]);
    let ended = ended(command.env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"));
    ended.assert_measured();
    let result = ended.result();
    assert_whole(&result, 12);
    let due = [Some(40), Some(5), None, Some(20), Some(20), Some(20)];
    for slice in &result.slices {
        // Two cells for each load, in their order.
        let due = due[slice.cell.0 / 2];
        assert!(due.is_none_or(|due| slice.due == due), "{}: {} were due", slice.cell, slice.due);
    }
    assert_removed(&place, cluster);
}
