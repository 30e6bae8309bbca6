//! What a killed run leaves is found and removed, and a living run beside it isn't touched.

mod common;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use common::{HELPER, Node, assert_same, caller_seen, inventory, processes_of, who_called};
use loadline_platform::{Kind, Local, Platform, preset};

/// A run in a process of its own, up and answered.
fn start_run(node: &Node, run: &str, layers: &str) -> Child {
    let mut child = Command::new(HELPER)
        .args(["hold", &node.registry_path(), run, layers])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.trim().parse::<std::net::IpAddr>().is_ok(), "{answer:?}");
    child
}

fn killed_run_is_cleaned(run: &str, layers: &str, kinds: &[Kind]) {
    let node = Node::enter_new();
    let before = inventory(run);
    let live = node.ground();
    let deployment =
        Local { layers: preset("pod").unwrap() }.deploy(&live, &who_called(), &mut |_| {}).unwrap();
    caller_seen(&live, deployment.address());

    let mut killed = start_run(&node, run, layers);
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
