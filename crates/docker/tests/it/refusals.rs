//! What is not possible is reported in a sentence, and leaves nothing behind.

use super::*;

#[test]
fn a_program_that_is_not_in_the_image_is_reported_and_nothing_is_left() {
    let stand = Stand::docker();
    let (node_before, docker_before) = (inventory(""), stand.engine.inventory());
    let environment = stand.environment();
    let source = ImageSource::Program(loadline_test_support::helper().into());
    let entrypoint = Some(vec!["/no/such/program".to_owned()]);
    let service = Service { image: Some(Image { source, entrypoint }), ..who_called() };
    for network in [DockerNetwork::Bridge, DockerNetwork::Macvlan] {
        let error = refusal(&on(network, Publish::None), &environment, &service);
        assert!(
            error.contains("cannot start a container of localhost/") && error.contains("/no/such/program"),
            "{error}"
        );
    }
    environment.remove().unwrap();
    assert_eq!(stand.engine.inventory(), docker_before);
    assert_node_is("", &node_before);
}

#[test]
fn a_port_in_use_on_the_node_is_refused_before_the_start() {
    let stand = Stand::docker();
    let environment = stand.environment();
    let listener = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let service = Service { port: Some(port), ..who_called() };
    let error = refusal(&on(DockerNetwork::Host, Publish::None), &environment, &service);
    assert!(error.contains(&format!("port {port} is in use")), "{error}");
    // On a bridge the container has all ports for itself.
    caller_seen(&environment, deploy(&Docker::default(), &environment, &service).address());
}

#[test]
fn a_daemon_without_userland_proxy_is_reported() {
    let stand = Stand::with(|| Engine::docker(&["--userland-proxy=false"]));
    let environment = stand.environment();
    let error = refusal(&on(DockerNetwork::Bridge, Publish::UserlandProxy), &environment, &who_called());
    assert!(error.contains("this daemon does not run"), "{error}");
    caller_seen(&environment, deploy(&Docker::default(), &environment, &who_called()).address());
}

#[test]
fn dropped_packets_to_the_containers_own_address_are_reported() {
    let stand = Stand::docker();
    // As Docker 28 does it.
    let drop = ["-t", "raw", "-A", "PREROUTING", "-d", "172.17.0.0/16", "!", "-i", "docker0", "-j", "DROP"];
    assert!(Command::new("iptables").args(drop).status().unwrap().success());
    let environment = stand.environment();
    let error = refusal(&on(DockerNetwork::Bridge, Publish::None), &environment, &who_called());
    assert!(
        error.contains("cannot reach the container's own address 172.17.0.2:8080")
            && error.contains("--allow-direct-routing"),
        "{error}"
    );
}

#[test]
fn options_that_cannot_be_combined_are_rejected() {
    let node = Node::enter_new();
    let environment = Run { environment: node.environment(), endpoint: "unix:///no/such/socket".to_owned() };
    for network in [DockerNetwork::Host, DockerNetwork::Macvlan, DockerNetwork::NoneWithWire] {
        let error = refusal(&on(network, Publish::UserlandProxy), &environment, &who_called());
        assert!(error.contains("only a container on a bridge publishes a port"), "{error}");
    }
    let error = refusal(&Docker::default(), &environment, &Service { image: None, ..who_called() });
    assert!(error.contains("the service has no image"), "{error}");
}

#[test]
fn an_unreachable_daemon_is_reported_with_what_to_do() {
    let node = Node::enter_new();
    let at = |endpoint: &str| Run { environment: node.environment(), endpoint: endpoint.to_owned() };
    let environment = at("unix:///no/such/socket");
    let error = refusal(&Docker::default(), &environment, &who_called());
    assert!(
        error.starts_with("cannot connect to Docker: /no/such/socket (No such file or directory"),
        "{error}"
    );
    assert!(error.contains("systemctl start docker") && error.contains("DOCKER_HOST"), "{error}");
    let elsewhere = Run { endpoint: "ssh://machine".to_owned(), ..environment };
    assert!(
        refusal(&Docker::default(), &elsewhere, &who_called()).contains("`ssh://machine` is not an address")
    );
    // It was never reached, so nothing can remain in it.
    elsewhere.remove().unwrap();
}

#[test]
fn a_daemon_in_another_network_namespace_is_rejected() {
    let stand = Stand::docker();
    let elsewhere = Run { environment: Node::enter_new().environment(), endpoint: stand.engine.endpoint() };
    let error = refusal(&Docker::default(), &elsewhere, &who_called());
    assert!(error.contains("it runs in another network namespace"), "{error}");
}
