//! What a killed run leaves is found and removed, and a living run beside it isn't touched.

mod common;

use std::process::Child;

use common::{Node, assert_same, caller_seen, held_run, inventory, processes_of, who_called};
use loadline_platform::{Kind, Local, Platform, preset};

/// A run in a process of its own, up and answered.
fn start_run(node: &Node, nodes: &str, run: &str, layers: &str) -> Child {
    held_run(&["hold", nodes, &node.registry_path(), run, layers]).0
}

fn killed_run_is_cleaned(run: &str, layers: &str, kinds: &[Kind]) {
    killed_run_with_nodes_is_cleaned("shared", run, layers, kinds);
}

fn killed_run_with_nodes_is_cleaned(nodes: &str, run: &str, layers: &str, kinds: &[Kind]) {
    let node = Node::enter_new();
    let before = inventory(run);
    let live = node.ground();
    let deployment = Local { layers: preset("pod").unwrap(), own_node: false }
        .deploy(&live, &who_called(), &mut |_| {})
        .unwrap();
    caller_seen(&live, deployment.address());

    let mut killed = start_run(&node, nodes, run, layers);
    assert!(node.registry.clean().unwrap().is_empty(), "a living run was cleaned");
    killed.kill().unwrap();
    killed.wait().unwrap();

    let removed = node.registry.clean().unwrap();
    for kind in kinds {
        assert!(removed.iter().any(|thing| thing.kind == *kind), "no {kind:?} among {removed:?}");
    }
    assert!(removed.iter().all(|thing| thing.run.to_string() == run), "{removed:?}");
    let left: Vec<_> = inventory(run).into_iter().filter(|thing| thing.contains(run)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(processes_of(run).is_empty());

    caller_seen(&live, deployment.address());
    deployment.stop().unwrap();
    live.remove().unwrap();
    assert_same(&inventory(run), &before);
    assert!(node.registry.clean().unwrap().is_empty());
}

#[test]
fn a_killed_pod_with_iptables_is_cleaned() {
    let layers = r#"["cgroup", "veth", "bridge", {"nodeport": {"backend": "iptables", "services": 5}}]"#;
    killed_run_is_cleaned("00dead", layers, &[Kind::Link, Kind::IptablesRules, Kind::Cgroup, Kind::Folder]);
}

#[test]
fn a_killed_pod_with_nftables_is_cleaned() {
    let layers = r#"["cgroup", "veth", "bridge", {"nodeport": {"backend": "nftables", "services": 5}}]"#;
    killed_run_is_cleaned("01dead", layers, &[Kind::Link, Kind::NftTable, Kind::Cgroup, Kind::Folder]);
}

#[test]
fn a_killed_container_is_cleaned() {
    killed_run_is_cleaned("02dead", r#"["cgroup", "veth", "bridge", "published"]"#, &[Kind::IptablesRules]);
}

#[test]
fn a_killed_host_run_is_cleaned() {
    // The wire goes by itself: its far end is in a namespace that dies with the process.
    killed_run_is_cleaned("03dead", "[]", &[Kind::Folder]);
}

#[test]
fn a_killed_run_with_nodes_of_their_own_is_cleaned() {
    // Namespaces, links and rules go by themselves, with the last process in them.
    let layers = r#"["cgroup", "veth", "bridge", "conntrack", {"other-node": "vxlan"}, {"nodeport": {"backend": "nftables"}}]"#;
    killed_run_with_nodes_is_cleaned("own", "04dead", layers, &[Kind::Cgroup, Kind::Folder]);
}
