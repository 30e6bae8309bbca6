//! Every combination of layers carries real traffic, looks as it should from both ends, and leaves nothing behind.

use std::net::IpAddr;

use loadline_local::{External, Host, Local};
use loadline_machine::Environment;
use loadline_model::platform::{
    Backend::{self, Iptables, Nftables},
    Layer::{self, Bridge, Cgroup, PublishedPort, Veth},
    preset,
};
use loadline_platform::{Platform, Service, Vantage};
use loadline_test_support::{
    Node, assert_same, caller_seen, exchange, inventory, root_pid, wait_until, web_server, who_called,
};

fn nodeport(backend: Backend, services: u32) -> Layer {
    Layer::NodePort { backend, services }
}

/// Deploys, asks from the client, and compares what the service saw; then checks that all of it is gone.
fn carries(layers: &[Layer], seen: impl Fn(&Environment, IpAddr) -> bool) {
    let node = Node::enter_new();
    let before = inventory("");
    let environment = node.environment();
    let run = environment.run().to_string();
    let deployment = Local { layers: layers.to_vec(), own_node: false }
        .deploy(&environment, &who_called(), &mut |_| {})
        .unwrap();
    assert!(deployment.left_out().is_empty(), "{:?}", deployment.left_out());
    let caller = caller_seen(&environment, deployment.address());
    assert!(seen(&environment, caller), "{layers:?}: the service saw {caller}");
    deployment.stop().unwrap();
    let of_deployment = ["b1", "v1", "p1", "-1", "/1"].map(|end| format!("{run}{end}"));
    let left: Vec<_> = inventory(&run)
        .into_iter()
        .filter(|thing| of_deployment.iter().any(|name| thing.contains(name)))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    environment.remove().unwrap();
    assert_same(&inventory(&run), &before);
}

fn client(environment: &Environment, seen: IpAddr) -> bool {
    seen == IpAddr::V4(environment.client_address())
}

/// The gateway of the first deployment's subnet, which is the bridge or the pair's near end.
fn gateway(environment: &Environment, seen: IpAddr) -> bool {
    let wire = environment.node_address().to_bits();
    seen == IpAddr::V4(std::net::Ipv4Addr::from_bits(wire + 16))
}

#[test]
fn no_layer_at_all_is_reached_over_the_wire() {
    carries(&[], client);
}

#[test]
fn a_cgroup_changes_nothing_on_the_way() {
    carries(&[Cgroup], client);
}

#[test]
fn a_routed_pod_sees_the_client() {
    carries(&[Veth], client);
    carries(&[Cgroup, Veth], client);
}

#[test]
fn a_bridged_pod_sees_the_client() {
    carries(&[Veth, Bridge], client);
    carries(&[Cgroup, Veth, Bridge], client);
}

#[test]
fn behind_a_node_port_of_iptables_the_client_is_masqueraded() {
    carries(&[Veth, Bridge, nodeport(Iptables, 1)], gateway);
    carries(&[Veth, nodeport(Iptables, 1)], gateway);
}

#[test]
fn behind_a_node_port_of_nftables_the_client_is_masqueraded() {
    carries(&[Veth, Bridge, nodeport(Nftables, 1)], gateway);
    carries(&[Veth, nodeport(Nftables, 1)], gateway);
}

#[test]
fn a_node_port_among_a_hundred_services_is_found_with_either_backend() {
    carries(&[Veth, Bridge, nodeport(Iptables, 100)], gateway);
    carries(&[Veth, Bridge, nodeport(Nftables, 100)], gateway);
}

#[test]
fn a_published_port_keeps_the_clients_address() {
    carries(&[Veth, Bridge, PublishedPort], client);
    carries(&[Veth, PublishedPort], client);
}

#[test]
fn both_presets_work() {
    carries(&preset("pod").unwrap(), gateway);
    carries(&preset("container").unwrap(), client);
}

#[test]
fn several_deployments_stand_side_by_side_and_end_one_by_one() {
    let node = Node::enter_new();
    let before = inventory("");
    let environment = node.environment();
    let deploy = |layers: Vec<Layer>| {
        Local { layers, own_node: false }.deploy(&environment, &who_called(), &mut |_| {}).unwrap()
    };
    let host = Host::default().deploy(&environment, &who_called(), &mut |_| {}).unwrap();
    let first = deploy(preset("pod").unwrap());
    let twin = deploy(preset("pod").unwrap());
    let other_backend = deploy(vec![Veth, Bridge, nodeport(Nftables, 10)]);
    let container = deploy(preset("container").unwrap());
    let all = [&host, &first, &twin, &other_backend, &container].map(|d| d.address());
    for address in all {
        caller_seen(&environment, address);
    }
    first.stop().unwrap();
    for address in [all[0], all[2], all[3], all[4]] {
        caller_seen(&environment, address);
    }
    let run = environment.run().to_string();
    drop((host, twin, other_backend, container));
    drop(environment);
    assert_same(&inventory(&run), &before);
}

#[test]
fn two_runs_at_once_have_addresses_and_ports_of_their_own() {
    let node = Node::enter_new();
    let (one, two) = (node.environment(), node.environment());
    assert_ne!(one.node_address(), two.node_address());
    let of_one = Local { layers: preset("pod").unwrap(), own_node: false }
        .deploy(&one, &who_called(), &mut |_| {})
        .unwrap();
    let of_two = Local { layers: preset("pod").unwrap(), own_node: false }
        .deploy(&two, &who_called(), &mut |_| {})
        .unwrap();
    one.remove().unwrap();
    caller_seen(&two, of_two.address());
    drop(of_one);
    caller_seen(&two, of_two.address());
}

#[test]
fn traffic_passes_where_docker_has_set_forwarding_to_drop() {
    let node = Node::enter_new();
    let drop_all = std::process::Command::new("iptables").args(["-P", "FORWARD", "DROP"]).status().unwrap();
    assert!(drop_all.success());
    let before = inventory("");
    let environment = node.environment();
    let pod = Local { layers: vec![Veth, Bridge], own_node: false }
        .deploy(&environment, &who_called(), &mut |_| {})
        .unwrap();
    caller_seen(&environment, pod.address());
    drop(pod);
    environment.remove().unwrap();
    assert_same(&inventory(""), &before);
}

#[test]
fn pythons_web_server_answers_on_the_host_and_in_a_pod() {
    let node = Node::enter_new();
    let environment = node.environment();
    for platform in
        [&Host::default() as &dyn Platform, &Local { layers: preset("pod").unwrap(), own_node: false }]
    {
        let deployment = platform.deploy(&environment, &web_server(), &mut |_| {}).unwrap();
        let answer = exchange(environment.client(), deployment.address(), b"GET / HTTP/1.0\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.0 200 OK"), "{answer}");
        wait_until("the log line", || deployment.output_tail().contains("GET / HTTP/1.0"));
        deployment.stop().unwrap();
    }
}

#[test]
fn an_external_service_is_called_from_the_node_and_left_alone() {
    let node = Node::enter_new();
    let environment = node.environment();
    let host = Host::default().deploy(&environment, &who_called(), &mut |_| {}).unwrap();
    let external = External { address: host.address(), authority: String::new() }
        .deploy(&environment, &Service::default(), &mut |_| {})
        .unwrap();
    assert!(matches!((external.vantage(), root_pid(&*external)), (Vantage::Node, None)));
    external.stop().unwrap();
    caller_seen(&environment, host.address());
}
