//! What a cluster or its kubeconfig lacks is reported clearly, and before anything is created.

use std::fs;

use crate::cluster::{Run, cleaning, cluster};
use loadline_kubernetes::CLEANERS;
use loadline_model::platform::{Expose, ImageSource, Kubernetes, Manifests};
use loadline_platform::Service;

/// The cluster's kubeconfig with something replaced, in a file of its own.
fn kubeconfig_with(change: impl Fn(String) -> String) -> (tempfile::NamedTempFile, Kubernetes) {
    let text = fs::read_to_string(&cluster().kubeconfig).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, change(text)).unwrap();
    let platform =
        Kubernetes { kubeconfig: Some(file.path().to_owned()), ..cluster().platform(Expose::NodePort) };
    (file, platform)
}

/// The kubeconfig without any credentials but a token.
fn kubeconfig_of(token: &str) -> (tempfile::NamedTempFile, Kubernetes) {
    kubeconfig_with(|text| {
        let lines = text.lines().map(|line| match line.split_once("user: {client-certificate-data") {
            Some((indent, _)) => format!("{indent}user: {{token: \"{token}\"}}\n"),
            None => format!("{line}\n"),
        });
        lines.collect()
    })
}

fn refused(platform: &Kubernetes, service: &Service) -> String {
    let run = Run::begin();
    let message = run.refusal(platform, service);
    run.end();
    message
}

fn assert_says(message: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn missing_permissions_are_all_named_at_once() {
    cluster().kubectl(&[
        "create",
        "serviceaccount",
        "nobody",
        "-n",
        "default",
        "--dry-run=client",
        "-o",
        "yaml",
    ]);
    cluster().apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody, namespace: default}}");
    let token = cluster().kubectl(&["create", "token", "nobody", "-n", "default"]);
    let (_file, platform) = kubeconfig_of(token.trim());
    let run = Run::begin();
    let message = run.refusal(&platform, &cluster().who_called());
    let namespace = format!("in namespace loadline-{}", run.environment.run());
    assert_says(
        &message,
        &["lacks permissions", "create namespaces in the whole cluster", "list nodes in the whole cluster"],
    );
    assert_says(
        &message,
        &[&format!("create deployments.apps {namespace}"), &format!("get pods/log {namespace}")],
    );
    assert!(!cluster().has_namespace(run.environment.run()));
    run.end();
    cluster().kubectl(&["delete", "serviceaccount", "nobody", "-n", "default"]);
}

#[test]
fn expired_credentials_are_distinguished_from_missing_permissions() {
    let (_file, platform) = kubeconfig_of("expired");
    let message = refused(&platform, &cluster().who_called());
    assert_says(&message, &["rejects the credentials of context `", "log in again"]);
}

#[test]
fn a_kubeconfig_of_another_cluster_is_detected_by_the_certificate() {
    let (_file, platform) = kubeconfig_with(|text| {
        // The client's own certificate is not a CA for the server's.
        let data = |name: &str| {
            let rest = text.split_once(&format!("{name}: ")).unwrap().1;
            rest.split(['}', '\n', ',']).next().unwrap().to_owned()
        };
        text.replace(&data("certificate-authority-data"), &data("client-certificate-data"))
    });
    let message = refused(&platform, &cluster().who_called());
    assert_says(&message, &["the certificate of the API server at https://", "is not trusted"]);
}

#[test]
fn an_unreachable_server_is_named_after_the_timeout() {
    let (_file, platform) = kubeconfig_with(|text| text.replace(":6443", ":1"));
    let message = refused(&platform, &cluster().who_called());
    assert_says(&message, &["the API server at https://", ":1 is unreachable (", "refused"]);
}

#[test]
fn a_missing_kubeconfig_is_named() {
    let platform =
        Kubernetes { kubeconfig: Some("/nowhere/config".into()), ..cluster().platform(Expose::NodePort) };
    assert_says(&refused(&platform, &cluster().who_called()), &["there is no kubeconfig at /nowhere/config"]);
    let platform = Kubernetes { context: Some("staging".to_owned()), ..cluster().platform(Expose::NodePort) };
    assert_says(&refused(&platform, &cluster().who_called()), &["has no context `staging`; it has `"]);
}

#[test]
fn an_image_that_is_not_on_the_nodes_says_how_to_load_it() {
    let run = Run::begin();
    let with = |source| {
        let image = loadline_model::platform::Image { source, entrypoint: None };
        Service { image: Some(image), ..cluster().who_called() }
    };
    let platform = cluster().platform(Expose::PodIP);
    // A program without an image.
    let message = run.refusal(&platform, &with(ImageSource::Program(loadline_test_support::helper().into())));
    assert_says(
        &message,
        &["is not on the node (ErrImageNeverPull", "loadline image -o", "ctr -n k8s.io images import"],
    );
    let message = run.refusal(&platform, &with(ImageSource::Name("localhost:1/nothing:1".to_owned())));
    assert_says(
        &message,
        &[
            "the image localhost:1/nothing:1 cannot be pulled (ErrImagePull",
            "check the name",
            "docker save -o image.tar localhost:1/nothing:1`",
        ],
    );
    assert!(cluster().objects(run.environment.run(), "deployments,pods,services").is_empty());
    run.end();
}

#[test]
fn a_service_that_dies_at_its_start_is_quoted() {
    let message = refused(&cluster().platform(Expose::PodIP), &cluster().service(&["fail"]));
    assert_says(&message, &["it exited on its own (exit status: 1)", "error: no database"]);
}

#[test]
fn a_pod_that_fits_on_no_node_says_why() {
    let mut service = cluster().who_called();
    service.limits.cpus = Some(1000.0);
    let message = refused(&cluster().platform(Expose::PodIP), &service);
    assert_says(&message, &["the scheduler finds no node", "Insufficient cpu"]);
}

#[test]
fn a_quota_is_quoted() {
    let run = Run::begin();
    let platform = cluster().platform(Expose::PodIP);
    run.deploy(&platform, &cluster().who_called()).stop().unwrap();
    let namespace = format!("loadline-{}", run.environment.run());
    cluster().apply(&format!(
        "{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: small, namespace: {namespace}}}, spec: {{hard: {{pods: '0'}}}}}}"
    ));
    let message = run.refusal(&platform, &cluster().who_called());
    assert_says(&message, &["the cluster rejects it", "exceeded quota: small"]);
    run.end();
}

#[test]
fn a_port_that_is_taken_is_named() {
    let run = Run::begin();
    let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let service = Service { port: Some(port), ..cluster().who_called() };
    let here = Kubernetes {
        placement: Some(loadline_model::platform::PodPlacement::SameNode),
        ..cluster().platform(Expose::HostNetwork)
    };
    assert_says(&run.refusal(&here, &service), &[&format!("port {port} is in use on this machine")]);
    run.end();
}

#[test]
fn a_port_that_another_pod_has_is_named() {
    let run = Run::begin();
    let yaml = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\nspec:\n  nodeSelector: {kubernetes.io/hostname: node-1}\n  \
                containers: [{name: c, image: localhost/pause:1, imagePullPolicy: Never, ports: [{containerPort: 80, hostPort: 29999}]}]\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    let with = |name: &str| {
        fs::write(&file, yaml.replace("NAME", name)).unwrap();
        let manifests = Manifests { file: file.path().to_owned(), workload: format!("pod/{name}") };
        Kubernetes { manifests: Some(manifests), ..cluster().platform(Expose::HostPort) }
    };
    let first = run.deploy(&with("one"), &Service::default());
    let message = run.refusal(&with("two"), &Service::default());
    assert_says(&message, &["free ports", "another pod on the node uses that host port"]);
    first.stop().unwrap();
    run.end();
}

#[test]
fn cluster_scoped_manifests_are_rejected() {
    let run = Run::begin();
    let file = tempfile::NamedTempFile::new().unwrap();
    let yaml = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}]}}\n---\n\
                {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}}\n";
    fs::write(&file, yaml).unwrap();
    let manifests = Manifests { file: file.path().to_owned(), workload: "pod/p".to_owned() };
    let platform = Kubernetes { manifests: Some(manifests), ..cluster().platform(Expose::PodIP) };
    let message = run.refusal(&platform, &Service::default());
    assert_says(&message, &["the ClusterRole all is cluster-scoped", "remove it from the file"]);
    assert!(cluster().objects(run.environment.run(), "pods").is_empty());
    run.end();
}

#[test]
fn what_a_bare_cluster_lacks_is_named() {
    let run = Run::begin();
    let message = run.refusal(&cluster().platform(Expose::LoadBalancer), &cluster().who_called());
    assert_says(&message, &["the cluster assigned no load balancer address", "MetalLB"]);
    let ingress = Expose::Ingress("http://orders.example/".to_owned());
    let message = run.refusal(&cluster().platform(ingress), &cluster().who_called());
    assert_says(&message, &["the cluster has no IngressClass", "install an ingress controller"]);
    run.end();
}

#[test]
fn a_foreign_namespace_is_left_unchanged() {
    let run = Run::begin();
    let namespace = format!("loadline-{}", run.environment.run());
    cluster().kubectl(&["create", "namespace", &namespace]);
    let message = run.refusal(&cluster().platform(Expose::PodIP), &cluster().who_called());
    assert_says(
        &message,
        &[&format!("cannot use the namespace {namespace}: it exists and is not this run's"), "loadline.run="],
    );
    let Run { registry, environment, .. } = run;
    // Once the run is given up, another test's cleanup would meet the same refusal.
    let _cleaning = cleaning();
    // The end of the run finds it too, and leaves it unchanged.
    assert_says(&environment.remove().unwrap_err().to_string(), &["it was left unchanged"]);
    cluster().kubectl(&["get", "namespace", &namespace]);
    cluster().kubectl(&["delete", "namespace", &namespace]);
    registry.clean(CLEANERS).unwrap();
}
