//! Every way of deploying to the real cluster of `tests/cluster`: reached, observed, removed.

use std::{fs, net::IpAddr, time::Duration};

use crate::cluster::{MEMORY_BYTES, Run, cluster};
use loadline_machine::{
    Cgroup,
    wait::{self, CLUSTER_INTERVAL},
};
use loadline_model::platform::{Expose, Kubernetes, LoadFrom, Manifests, PodPlacement, Probes};
use loadline_platform::{Deployment, Service, Vantage};
use loadline_test_support::{allowed_cpus, cgroup_of, pid_of};

/// Deploys, asks, and says who called, on which node; everything of the deployment is gone at its end.
fn deployed(run: &Run, platform: &Kubernetes, service: &Service) -> (IpAddr, String) {
    let mut deployment = run.deploy(platform, service);
    let caller = run.ask(&*deployment).parse().unwrap();
    let node = pods(run, "{.items[*].spec.nodeName}");
    check_limits(&*deployment);
    assert_eq!(deployment.ended(), None);
    deployment.stop().unwrap();
    assert_nothing_left(run);
    (caller, node)
}

fn check_limits(deployment: &dyn Deployment) {
    let limit = match &cgroup_of(deployment).expect("a cgroup on this machine") {
        Cgroup::V1 { memory, .. } => memory.as_ref().unwrap().join("memory.limit_in_bytes"),
        Cgroup::V2 { dir } => dir.join("memory.max"),
    };
    assert_eq!(fs::read_to_string(limit).unwrap().trim(), MEMORY_BYTES.to_string());
    let command = fs::read_to_string(format!("/proc/{}/cmdline", pid_of(deployment))).unwrap();
    assert!(command.contains("serve"), "{command}");
}

fn assert_nothing_left(run: &Run) {
    let kinds = "deployments,replicasets,daemonsets,jobs,pods,services,ingresses,networkpolicies,configmaps";
    let left = cluster().objects(run.environment.run(), kinds);
    assert!(left.is_empty(), "left behind: {left:?}");
}

fn namespace(run: &Run) -> String {
    format!("loadline-{}", run.environment.run())
}

/// What a JSON path finds in the list of the run's pods.
fn pods(run: &Run, path: &str) -> String {
    cluster().kubectl(&["get", "pods", "-n", &namespace(run), "-o", &format!("jsonpath={path}")])
}

/// On both nodes, and whether the service sees the client itself on this one.
fn every_placement(expose: Expose) -> bool {
    let run = Run::begin();
    let place = |placement| Kubernetes { placement: Some(placement), ..cluster().platform(expose.clone()) };
    let (same_caller, same) = deployed(&run, &place(PodPlacement::SameNode), &cluster().who_called());
    let (other_caller, other) = deployed(&run, &place(PodPlacement::OtherNode), &cluster().who_called());
    assert_eq!((same.as_str(), other.as_str()), ("node-1", "node-2"));
    let client = IpAddr::V4(run.environment.client_address());
    run.end();
    assert_ne!(other_caller, client, "another node would have no route back");
    same_caller == client
}

#[test]
fn a_node_port_leads_to_pods_on_both_nodes_and_hides_the_client() {
    assert!(!every_placement(Expose::NodePort));
}

#[test]
fn a_cluster_address_leads_to_pods_on_both_nodes() {
    every_placement(Expose::ClusterIP);
}

#[test]
fn pods_on_both_nodes_are_reached_at_their_own_addresses() {
    assert!(every_placement(Expose::PodIP), "a pod of this node is called by the client itself");
}

#[test]
fn a_network_policy_selects_the_services_own_pods_and_its_port() {
    let run = Run::begin();
    let platform = Kubernetes { network_policy: true, ..cluster().platform(Expose::PodIP) };
    let deployment = run.deploy(&platform, &cluster().who_called());
    run.ask(&*deployment);
    let found = |path: &str| {
        let path = format!("jsonpath={{.items[*].spec.{path}}}");
        cluster().kubectl(&["get", "networkpolicies", "-n", &namespace(&run), "-o", &path])
    };
    assert_eq!(found("ingress[*].ports[*].port"), deployment.address().port().to_string());
    let labels: Vec<String> =
        serde_json::from_str::<std::collections::BTreeMap<String, String>>(&found("podSelector.matchLabels"))
            .unwrap()
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
    let selected =
        cluster().kubectl(&["get", "pods", "-n", &namespace(&run), "-l", &labels.join(","), "-o", "name"]);
    assert_eq!(selected.lines().count(), 1, "{selected}");
    deployment.stop().unwrap();
    assert_nothing_left(&run);
    run.end();
}

#[test]
fn pods_in_the_networks_of_both_nodes_are_reached() {
    assert!(
        every_placement(Expose::HostNetwork),
        "a pod in this node's network is called by the client itself"
    );
}

#[test]
fn ports_of_both_hosts_lead_to_pods() {
    assert!(every_placement(Expose::HostPort), "a port of this host keeps the client's address");
}

#[test]
fn a_static_pod_is_reached_like_any_other_and_its_manifest_goes() {
    let run = Run::begin();
    for expose in [Expose::NodePort, Expose::HostNetwork] {
        let platform = Kubernetes { static_pod: true, ..cluster().platform(expose) };
        let (_, node) = deployed(&run, &platform, &cluster().who_called());
        assert_eq!(node, "node-1");
    }
    run.end();
}

#[test]
fn a_service_may_stand_among_many() {
    let run = Run::begin();
    let platform = Kubernetes { services: 50, ..cluster().platform(Expose::NodePort) };
    let deployment = run.deploy(&platform, &cluster().who_called());
    run.ask(&*deployment);
    let services = cluster().objects(run.environment.run(), "services");
    assert_eq!(services.len(), 50);
    // Each with the pod behind it, or kube-proxy would write no rules for it.
    let path = "jsonpath={range .items[*]}{.endpoints[0].addresses[0]}{\"\\n\"}{end}";
    loadline_test_support::wait_until("the pod behind each", || {
        let slices = cluster().kubectl(&["get", "endpointslices", "-n", &namespace(&run), "-o", path]);
        slices.lines().filter(|line| !line.is_empty()).count() == 50
    });
    deployment.stop().unwrap();
    assert_nothing_left(&run);
    run.end();
}

#[test]
fn default_probes_delay_readiness_and_pass() {
    let run = Run::begin();
    let platform = Kubernetes { probes: Probes::Default, ..cluster().platform(Expose::PodIP) };
    let mut deployment = run.deploy(&platform, &cluster().who_called());
    run.ask(&*deployment);
    let startup = deployment.startup();
    let at = |name| startup.phases.iter().find(|phase| phase.name == name).unwrap().after;
    assert!(at("ready") - at("started") >= std::time::Duration::from_secs(9), "{startup:?}");
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn a_start_has_phases_in_order_and_an_image_of_some_size() {
    let run = Run::begin();
    let mut deployment = run.deploy(&cluster().platform(Expose::PodIP), &cluster().who_called());
    let startup = deployment.startup();
    let names: Vec<&str> = startup.phases.iter().map(|phase| phase.name).collect();
    // The pod's watch may report readiness before the events' watch reports the phases before it.
    for name in ["scheduled", "image", "created", "started", "ready"] {
        assert!(names.contains(&name), "{startup:?}");
    }
    assert_eq!(names[0], "scheduled");
    // The kubelet lists an image that has just been loaded with the next status of its node, within ten seconds.
    let size = || deployment.startup().image_bytes;
    let image_bytes = wait::until(Duration::from_secs(120), CLUSTER_INTERVAL, size);
    let bytes = fs::metadata(&cluster().helper).unwrap().len();
    assert!(image_bytes.is_some_and(|image| image >= bytes), "{image_bytes:?} of {bytes}");
    assert!(
        deployment.output_tail().starts_with("listening on 0.0.0.0:8080"),
        "{}",
        deployment.output_tail()
    );
    run.end();
}

#[test]
fn a_pod_on_this_machine_is_pinned_and_has_the_requested_user() {
    let run = Run::begin();
    let platform = Kubernetes { user: Some(1234), ..cluster().platform(Expose::PodIP) };
    let service = Service { cpus: vec![1], ..cluster().who_called() };
    let deployment = run.deploy(&platform, &service);
    let pid = pid_of(&*deployment);
    assert_eq!(allowed_cpus(pid), "1");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("Uid:\t1234\t"), "{status}");
    assert!(deployment.left_out()[0].contains("is pinned to its CPUs only after it has started"));
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn all_replicas_are_ready_before_the_load_starts() {
    let run = Run::begin();
    let platform = Kubernetes { replicas: 3, ..cluster().platform(Expose::ClusterIP) };
    let deployment = run.deploy(&platform, &cluster().who_called());
    assert_eq!(pods(&run, "{.items[*].status.containerStatuses[0].ready}"), "true true true");
    assert!(deployment.left_out()[0].contains("one of its 3 pods"), "{:?}", deployment.left_out());
    deployment.stop().unwrap();
    assert_nothing_left(&run);
    run.end();
}

#[test]
fn the_users_own_manifests_are_put_into_the_runs_namespace() {
    let run = Run::begin();
    let image = image_name();
    let yaml = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: default}}\ndata: {{address: 0.0.0.0}}\n---\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: orders}}\nspec:\n  selector: {{matchLabels: {{app: orders}}}}\n  \
         template:\n    metadata: {{labels: {{app: orders}}}}\n    spec:\n      containers:\n      - name: orders\n        \
         image: {image}\n        imagePullPolicy: Never\n        args: [serve, $(ADDRESS), '7000']\n        \
         ports: [{{containerPort: 7000}}]\n        resources: {{limits: {{memory: '{MEMORY_BYTES}'}}}}\n        \
         env: [{{name: ADDRESS, valueFrom: {{configMapKeyRef: {{name: settings, key: address}}}}}}]\n"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, yaml).unwrap();
    let manifests = Manifests { file: file.path().to_owned(), workload: "deployment/orders".to_owned() };
    let platform = Kubernetes { manifests: Some(manifests), ..cluster().platform(Expose::NodePort) };
    deployed(&run, &platform, &Service::default());
    assert!(!cluster().kubectl(&["get", "configmaps", "-n", "default", "-o", "name"]).contains("settings"));
    run.end();
}

fn image_name() -> String {
    let program = loadline_image::Program::open(&cluster().helper).unwrap();
    loadline_image::Image::new(program, "service").unwrap().name.to_string()
}

#[test]
fn the_load_may_run_in_the_cluster_behind_a_port_forward() {
    use std::io::{BufRead, BufReader, Write};
    let run = Run::begin();
    let platform = Kubernetes {
        load_from: LoadFrom::Cluster,
        placement: Some(PodPlacement::OtherNode),
        ..cluster().platform(Expose::PodIP)
    };
    let deployment = run.deploy(&platform, &cluster().who_called());
    let nodes = pods(&run, "{.items[*].spec.nodeName}");
    let nodes: Vec<&str> = nodes.split(' ').collect();
    assert!(nodes.len() == 2 && nodes[0] != nodes[1], "the load and the service are both on {nodes:?}");
    let Vantage::Agent(agent) = deployment.vantage() else { panic!("{:?}", deployment.vantage()) };
    // Connections are independent of each other, and long messages arrive complete.
    let mut streams = [agent.connect().unwrap(), agent.connect().unwrap()];
    for (index, stream) in streams.iter_mut().enumerate() {
        let line = format!("{index}{}", "x".repeat(100_000));
        writeln!(stream, "{line}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), format!("{line} is not here"));
    }
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn the_cluster_is_described() {
    let run = Run::begin();
    let facts = run.with(&cluster().platform(Expose::NodePort)).facts(&run.environment).unwrap();
    assert_eq!(facts.version.as_deref(), Some("v1.34.4"));
    assert_eq!(
        facts.nodes.iter().map(|node| (node.name.as_str(), node.here)).collect::<Vec<_>>(),
        [("node-1", true), ("node-2", false)]
    );
    assert!(facts.nodes.iter().all(|node| node.cpu_manager.as_deref() == Some("none")), "{facts:?}");
    assert!(facts.nodes.iter().all(|node| node.runtime.starts_with("containerd://")), "{facts:?}");
    assert_eq!(facts.cni.as_ref().map(|cni| cni.name.as_str()), Some("bridge + portmap"));
    assert!(matches!(facts.proxy_mode.as_deref(), Some("iptables" | "nftables")), "{facts:?}");
    assert!(
        facts.services >= Some(1) && facts.endpoint_slices >= Some(1) && facts.rules_here > Some(10),
        "{facts:?}"
    );
    // Querying creates nothing.
    assert!(!cluster().has_namespace(run.environment.run()));
    run.end();
}
