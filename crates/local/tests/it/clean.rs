//! What a killed run leaves behind is found and removed, and a live run is not touched.

use std::process::Child;

use loadline_local::{CLEANERS, Local};
use loadline_model::platform::preset;
use loadline_platform::Platform;
use loadline_test_support::{Node, assert_same, caller_seen, held_run, inventory, processes_of, who_called};

/// A run in a process of its own, up and answered.
fn start_run(node: &Node, nodes: &str, run: &str, layers: &str) -> Child {
    held_run(&["hold", nodes, &node.registry_path(), run, layers]).0
}

fn killed_run_is_cleaned(run: &str, layers: &str, kinds: &[&str]) {
    killed_run_with_nodes_is_cleaned("shared", run, layers, kinds);
}

fn killed_run_with_nodes_is_cleaned(nodes: &str, run: &str, layers: &str, kinds: &[&str]) {
    let node = Node::enter_new();
    let before = inventory(run);
    let live = node.environment();
    let deployment = Local { layers: preset("pod").unwrap(), own_node: false }
        .deploy(&live, &who_called(), &mut |_| {})
        .unwrap();
    caller_seen(&live, deployment.address());

    let mut killed = start_run(&node, nodes, run, layers);
    assert!(node.registry.clean(CLEANERS).unwrap().is_empty(), "a living run was cleaned");
    killed.kill().unwrap();
    killed.wait().unwrap();

    let removed = node.registry.clean(CLEANERS).unwrap();
    for kind in kinds {
        assert!(removed.iter().any(|thing| thing.kind == *kind), "no {kind} among {removed:?}");
    }
    assert!(removed.iter().all(|thing| thing.run.to_string() == run), "{removed:?}");
    let left: Vec<_> = inventory(run).into_iter().filter(|thing| thing.contains(run)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(processes_of(run).is_empty());

    caller_seen(&live, deployment.address());
    deployment.stop().unwrap();
    live.remove().unwrap();
    assert_same(&inventory(run), &before);
    assert!(node.registry.clean(CLEANERS).unwrap().is_empty());
}

#[test]
fn a_killed_pod_with_iptables_is_cleaned() {
    let layers = r#"["cgroup", "veth", "bridge", {"nodeport": {"backend": "iptables", "services": 5}}]"#;
    killed_run_is_cleaned("00dead", layers, &["link", "iptables", "cgroup", "run"]);
}

#[test]
fn a_killed_pod_with_nftables_is_cleaned() {
    let layers = r#"["cgroup", "veth", "bridge", {"nodeport": {"backend": "nftables", "services": 5}}]"#;
    killed_run_is_cleaned("01dead", layers, &["link", "nft table", "cgroup", "run"]);
}

#[test]
fn a_killed_container_is_cleaned() {
    killed_run_is_cleaned("02dead", r#"["cgroup", "veth", "bridge", "published"]"#, &["iptables"]);
}

#[test]
fn a_killed_host_run_is_cleaned() {
    // The wire disappears on its own: its far end is in a namespace that vanishes with the process.
    killed_run_is_cleaned("03dead", "[]", &["run"]);
}

#[test]
fn a_killed_run_with_nodes_of_their_own_is_cleaned() {
    // Namespaces, links and rules vanish with the last process in them.
    let layers = r#"["cgroup", "veth", "bridge", "conntrack", {"other-node": "vxlan"}, {"nodeport": {"backend": "nftables"}}]"#;
    killed_run_with_nodes_is_cleaned("own", "07dead", layers, &["cgroup", "run"]);
}
