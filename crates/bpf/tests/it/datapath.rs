//! The eBPF datapath between a client and a pod.

use loadline_bpf::{Attached, BpfError, attach_datapath};

use crate::topology::{NODE, POD, POD_LINK, POD_MAC, Topology, WIRE};

fn attach(topology: &Topology) -> Attached {
    topology.node.run(|| attach_datapath(WIRE, POD_LINK, POD, POD_MAC)).unwrap()
}

/// Packets that the node's rules at the forward hook have seen.
fn forwarded(topology: &Topology) -> u64 {
    let rules = topology.node.command("nft list chain ip seen forward");
    let counted = rules.split("packets ").nth(1).and_then(|rest| rest.split(' ').next());
    counted.unwrap_or_else(|| panic!("{rules}")).parse().unwrap()
}

#[test]
fn packets_pass_a_node_that_forwards_nothing() {
    let topology = Topology::new(false);
    let port = topology.pod.echo();
    assert!(!topology.client.can_talk_to(POD, port, 1), "the node's stack forwards");
    let attached = attach(&topology);
    assert!(topology.client.can_talk_to(POD, port, 1000));
    drop(attached);
    assert!(!topology.client.can_talk_to(POD, port, 1), "the datapath is still there");
}

#[test]
fn the_nodes_rules_see_none_of_its_packets() {
    let topology = Topology::new(true);
    let port = topology.pod.echo();
    topology.node.command("nft add table ip seen");
    topology.node.command("nft add chain ip seen forward { type filter hook forward priority 0 ; }");
    topology.node.command("nft add rule ip seen forward counter");
    let attached = attach(&topology);
    assert!(topology.client.can_talk_to(POD, port, 100));
    assert_eq!(forwarded(&topology), 0);
    drop(attached);
    assert!(topology.client.can_talk_to(POD, port, 100));
    assert!(forwarded(&topology) >= 200);
}

#[test]
fn node_and_pod_communicate_as_before() {
    let topology = Topology::new(false);
    let _attached = attach(&topology);
    let (on_node, in_pod) = (topology.node.echo(), topology.pod.echo());
    for address in [NODE, "10.9.1.1".parse().unwrap()] {
        assert!(topology.pod.can_talk_to(address, on_node, 1), "{address}");
    }
    assert!(topology.node.can_talk_to(POD, in_pod, 1));
    assert!(topology.client.can_talk_to(NODE, on_node, 1));
}

#[test]
fn a_pod_can_connect_to_the_client() {
    let topology = Topology::new(false);
    let port = topology.client.echo();
    let _attached = attach(&topology);
    assert!(topology.pod.can_talk_to("10.9.0.1".parse().unwrap(), port, 1));
}

#[test]
fn a_missing_link_is_named() {
    let topology = Topology::new(false);
    for (wire, pod_link, missing) in [("wire9", POD_LINK, "wire9"), (WIRE, "pod9", "pod9")] {
        let error = topology.node.run(|| attach_datapath(wire, pod_link, POD, POD_MAC)).unwrap_err();
        assert!(matches!(&error, BpfError::NoLink { link, .. } if link == missing), "{error}");
    }
}
