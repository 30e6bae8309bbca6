//! Podman instead of Docker, through the same API.

use super::{
    networks::{carries, first_subnet, joins},
    *,
};

/// With the bridge and the rules that Podman makes for its first container and keeps.
fn podman() -> Stand {
    let stand = Stand::with(Engine::podman);
    deploy(&Docker::default(), &stand.environment(), &who_called()).stop().unwrap();
    let busy = |thing: &String| thing.contains("podman0") && thing.contains("state UP");
    wait_until("the end of its last link", || !inventory("").iter().any(busy));
    stand
}

#[test]
fn podmans_published_port_carries_traffic() {
    carries(&podman(), DockerNetwork::Bridge, Publish::Port, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn podmans_unpublished_container_is_reached_at_its_own_address() {
    carries(&podman(), DockerNetwork::Bridge, Publish::None, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn podman_runs_a_container_in_the_nodes_own_namespace() {
    carries(&podman(), DockerNetwork::Host, Publish::None, |environment| environment.client_address().into());
}

#[test]
fn podmans_containers_reach_each_other_on_a_network_of_the_run() {
    joins(&podman(), "podman");
}

#[test]
fn podman_connects_a_container_by_macvlan() {
    carries(&podman(), DockerNetwork::Macvlan, Publish::None, |environment| first_subnet(environment, 1));
}

#[test]
fn podman_leaves_a_container_to_loadlines_wire() {
    carries(&podman(), DockerNetwork::NoneWithWire, Publish::None, |environment| {
        environment.client_address().into()
    });
}

#[test]
fn podman_without_userland_proxy_is_reported() {
    let stand = podman();
    let error =
        refusal(&on(DockerNetwork::Bridge, Publish::UserlandProxy), &stand.environment(), &who_called());
    assert!(error.contains("Podman never does"), "{error}");
}
