//! Every way to connect and publish a container carries traffic, and is gone without a trace afterwards.

use super::*;

/// The address at `offset` in the subnet of the first deployment.
pub fn first_subnet(environment: &Environment, offset: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(environment.node_address().to_bits() - 1 + 16 + offset))
}

/// Deploys, asks from the client, compares what the service saw, and checks that all of it is gone afterwards.
pub fn carries(
    stand: &Stand,
    network: DockerNetwork,
    publish: Publish,
    seen: impl Fn(&Environment) -> IpAddr,
) {
    let (node_before, docker_before) = (inventory(""), stand.engine.inventory());
    let environment = stand.environment();
    let run = environment.run().to_string();
    let deployment = deploy(&on(network, publish), &environment, &who_called());
    assert!(matches!(deployment.vantage(), Vantage::Client));
    assert!(root_pid(&*deployment).is_some() && cgroup_of(&*deployment).is_some(), "it cannot be observed");
    assert_eq!(
        caller_seen(&environment, deployment.address()),
        seen(&environment),
        "{network:?} {publish:?}"
    );
    // Again, now that every rule and neighbour is known.
    caller_seen(&environment, deployment.address());
    deployment.stop().unwrap();
    let left: Vec<_> =
        inventory(&run).into_iter().filter(|thing| thing.contains(&format!("{run}-1"))).collect();
    assert!(left.is_empty(), "{left:?}");
    environment.remove().unwrap();
    assert_eq!(stand.engine.inventory(), docker_before);
    assert_node_is(&run, &node_before);
}

/// Deploys containers that reach each other on a network of the run, beside one that is on the default network.
pub fn joins(stand: &Stand, default: &str) {
    let before = stand.engine.inventory();
    let environment = stand.environment();
    let of_run = format!("loadline-{}", environment.run());
    let beside = Service { has_peers: true, ..who_called() };
    let [alone, one, other] = [who_called(), beside.clone(), beside]
        .map(|service| deploy(&Docker::default(), &environment, &service));
    let network = |slot: u8| {
        let names = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
        stand.engine.cli(&["inspect", "--format", names, &format!("{of_run}-{slot}")])
    };
    assert_eq!([1, 2, 3].map(network), [default, &of_run, &of_run]);
    for deployment in [&alone, &one, &other] {
        assert_eq!(caller_seen(&environment, deployment.address()), environment.client_address());
    }
    let inside = Netns::of_process(pid_of(&*one)).unwrap();
    let seen = exchange(&inside, other.peer_address(), b"");
    assert_eq!(seen, one.peer_address().ip().to_string(), "no address is translated between them");

    for deployment in [alone, one, other] {
        deployment.stop().unwrap();
    }
    let network = format!("network {of_run}");
    assert!(stand.engine.inventory().contains(&network), "the next deployments are to be on it");
    environment.remove().unwrap();
    assert_eq!(stand.engine.inventory(), before);
}

#[test]
fn containers_that_reach_each_other_are_on_a_network_of_the_run_and_others_on_the_default_one() {
    joins(&Stand::docker(), "bridge");
}

#[test]
fn a_published_port_keeps_the_clients_address() {
    carries(&Stand::docker(), DockerNetwork::Bridge, Publish::Port, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn behind_the_userland_proxy_the_service_sees_the_node() {
    carries(&Stand::docker(), DockerNetwork::Bridge, Publish::UserlandProxy, |_| {
        Ipv4Addr::new(172, 17, 0, 1).into()
    });
}

#[test]
fn an_unpublished_container_is_reached_at_its_own_address() {
    carries(&Stand::docker(), DockerNetwork::Bridge, Publish::None, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn in_the_nodes_own_namespace_the_service_sees_the_client() {
    carries(&Stand::docker(), DockerNetwork::Host, Publish::None, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn a_macvlan_container_sees_the_client_on_a_wire_of_its_own() {
    carries(&Stand::docker(), DockerNetwork::Macvlan, Publish::None, |environment| {
        first_subnet(environment, 1)
    });
}

#[test]
fn a_container_without_dockers_network_is_reached_over_loadlines_wire() {
    carries(&Stand::docker(), DockerNetwork::NoneWithWire, Publish::None, |environment| {
        environment.client_address().into()
    });
}
