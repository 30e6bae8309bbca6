//! Paths to a pod that a bare cluster lacks: the test replaces what would provide them.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    thread::{sleep, spawn},
    time::Duration,
};

use crate::cluster::{Run, cluster};
use loadline_model::platform::{Expose, Kubernetes, PodPlacement};
use loadline_platform::Vantage;

#[test]
fn a_load_balancers_address_is_waited_for_and_used() {
    let run = Run::begin();
    let name = format!("loadline-{}-1", run.environment.run());
    let namespace = format!("loadline-{}", run.environment.run());
    // As a cloud's controller would, a while later; kube-proxy then answers for the address.
    let controller = spawn(move || {
        let status = r#"{"status": {"loadBalancer": {"ingress": [{"ip": "10.240.192.9"}]}}}"#;
        let services = || cluster().kubectl(&["get", "services", "-A", "-o", "name"]);
        loadline_test_support::wait_until("the Service", || services().contains(&name));
        sleep(Duration::from_secs(1));
        cluster().kubectl(&[
            "patch",
            "service",
            &name,
            "-n",
            &namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ]);
    });
    let deployment = run.deploy(&cluster().platform(Expose::LoadBalancer), &cluster().who_called());
    controller.join().unwrap();
    assert_eq!(deployment.address().to_string(), "10.240.192.9:8080");
    run.ask(&*deployment);
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn an_ingress_is_asked_at_its_urls_address_with_its_host() {
    let run = Run::begin();
    let class = format!("loadline-test-{}", run.environment.run());
    cluster().apply(&format!(
        "{{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {{name: {class}}}, spec: {{controller: example.com/none}}}}"
    ));
    // Stands in for the controller.
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let url = format!("http://10.240.0.1:{}/orders", listener.local_addr().unwrap().port());
    let controller = spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // A client that only checks for a listener sends nothing.
            let mut request = [0; 4];
            if stream.read(&mut request).unwrap_or_default() > 0 {
                return stream.write_all(b"routed").unwrap();
            }
        }
    });
    let deployment = run.deploy(&cluster().platform(Expose::Ingress(url.clone())), &cluster().who_called());
    assert_eq!(format!("http://{}/orders", deployment.address()), url);
    assert_eq!(deployment.authority().map(|authority| format!("http://{authority}/orders")), Some(url));
    let namespace = format!("loadline-{}", run.environment.run());
    let path = "jsonpath={.items[0].spec.rules[0].http.paths[0].path} {.items[0].spec.rules[0].http.paths[0].backend.service.name}";
    let rule = cluster().kubectl(&["get", "ingresses", "-n", &namespace, "-o", path]);
    assert_eq!(rule, format!("/orders {namespace}-1"));
    assert_eq!(
        loadline_test_support::exchange(run.environment.client(), deployment.address(), b"GET "),
        "routed"
    );
    controller.join().unwrap();
    deployment.stop().unwrap();
    assert!(cluster().objects(run.environment.run(), "ingresses,services").is_empty());
    run.end();
    cluster().kubectl(&["delete", "ingressclass", &class]);
}

/// Nothing that the run's client sends is forwarded, until this is dropped, by a failing test too.
struct Wall(String);

impl Wall {
    fn around(run: &Run) -> Wall {
        let wall = Wall(format!("wall-{}", run.environment.run()));
        let client = run.environment.client_address();
        let chain = format!("{{ type filter hook forward priority -1; ip saddr {client} drop; }}");
        let made =
            Command::new("nft").arg(format!("table ip {} {{ chain forward {chain}; }}", wall.0)).status();
        assert!(made.unwrap().success());
        wall
    }
}

impl Drop for Wall {
    fn drop(&mut self) {
        let gone = Command::new("nft").arg(format!("delete table ip {}", self.0)).status();
        assert!(gone.is_ok_and(|status| status.success()), "the table {} is still there", self.0);
    }
}

#[test]
fn a_pod_that_this_machine_cannot_reach_is_loaded_from_within_the_cluster() {
    let run = Run::begin();
    let wall = Wall::around(&run);
    let platform =
        Kubernetes { placement: Some(PodPlacement::OtherNode), ..cluster().platform(Expose::PodIP) };
    let deployment = run.deploy(&platform, &cluster().who_called());
    drop(wall);
    assert!(matches!(deployment.vantage(), Vantage::Agent(_)), "{:?}", deployment.vantage());
    deployment.stop().unwrap();
    run.end();
}
