//! Failures during a run on the real cluster: each is noticed and reported clearly, and nothing is left behind.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::cluster::{Run, cleaning, cluster, disturb, end_of, registry, registry_path};
use loadline_kubernetes::CLEANERS;
use loadline_model::platform::{Expose, Kubernetes, Observers};
use loadline_platform::Service;

fn namespace(run: &Run) -> String {
    format!("loadline-{}", run.environment.run())
}

#[test]
fn a_pod_that_is_deleted_by_others_has_ended() {
    let run = Run::begin();
    let mut deployment = run.deploy(&cluster().platform(Expose::PodIP), &cluster().who_called());
    cluster().kubectl(&[
        "delete",
        "pods",
        "-n",
        &namespace(&run),
        "--all",
        "--wait=false",
        "--grace-period=1",
    ]);
    let why = end_of(&mut *deployment);
    assert!(why.contains("was deleted") && why.contains("by something other than this run"), "{why}");
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn a_pod_that_exceeds_its_memory_limit_has_ended_with_the_limit_named() {
    let run = Run::begin();
    let mut deployment =
        run.deploy(&cluster().platform(Expose::PodIP), &cluster().service(&["hungry", "{host}", "{port}"]));
    run.ask(&*deployment);
    let why = end_of(&mut *deployment);
    assert!(why.contains("OOM killer ended it") && why.contains("its limit of 64 MiB"), "{why}");
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn an_evicted_pod_has_ended() {
    let run = Run::begin();
    let mut deployment = run.deploy(&cluster().platform(Expose::PodIP), &cluster().who_called());
    let pod = cluster().objects(run.environment.run(), "pods").remove(0);
    let name = pod.strip_prefix("pod/").unwrap();
    let eviction = format!(
        "{{\"apiVersion\": \"policy/v1\", \"kind\": \"Eviction\", \"metadata\": {{\"name\": \"{name}\", \"namespace\": \"{}\"}}}}",
        namespace(&run)
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, eviction).unwrap();
    let path = format!("/api/v1/namespaces/{}/pods/{name}/eviction", namespace(&run));
    cluster().kubectl(&["create", "--raw", &path, "-f", &file.path().display().to_string()]);
    let why = end_of(&mut *deployment);
    assert!(why.contains("was evicted by something other than this run (EvictionByEvictionAPI"), "{why}");
    deployment.stop().unwrap();
    run.end();
}

#[test]
fn a_killed_api_server_ends_nothing_once_it_is_back() {
    let run = Run::disturbing();
    let mut deployment = run.deploy(&cluster().platform(Expose::NodePort), &cluster().who_called());
    cluster().kill("api-server");
    // The service does not need it.
    run.ask(&*deployment);
    assert_eq!(deployment.ended(), None);
    let restart = std::thread::spawn(|| {
        sleep(Duration::from_secs(1));
        cluster().script("control-plane", &["api-server"]);
    });
    // And the run waits for it.
    let tail = deployment.output_tail();
    assert!(tail.starts_with("listening"), "{tail:?}");
    deployment.stop().unwrap();
    let again = run.deploy(&cluster().platform(Expose::NodePort), &cluster().who_called());
    run.ask(&*again);
    again.stop().unwrap();
    restart.join().unwrap();
    run.end();
}

#[test]
fn a_cluster_without_a_node_to_use_says_what_is_wrong_with_each() {
    let run = Run::disturbing();
    cluster().kubectl(&["cordon", "node-1", "node-2"]);
    let message = run.refusal(&cluster().platform(Expose::PodIP), &cluster().who_called());
    let other = Kubernetes {
        placement: Some(loadline_model::platform::PodPlacement::OtherNode),
        ..cluster().platform(Expose::PodIP)
    };
    cluster().kubectl(&["uncordon", "node-1"]);
    let alone = run.refusal(&other, &cluster().who_called());
    cluster().kubectl(&["uncordon", "node-2"]);
    assert!(
        message.contains(
            "no node of the cluster can run a pod: node-1 is cordoned (kubectl uncordon node-1); node-2"
        ),
        "{message}"
    );
    assert!(
        alone.contains("`placement: other-node` is not possible: the node node-2 is cordoned"),
        "{alone}"
    );
    run.end();
}

#[test]
fn a_killed_run_is_cleaned_from_the_cluster_and_the_kubelets_folder() {
    let live = Run::begin();
    let deployment = live.deploy(&cluster().platform(Expose::NodePort), &cluster().who_called());
    let options = Kubernetes { static_pod: true, ..cluster().platform(Expose::NodePort) };
    let options = serde_json::to_string(&options).unwrap();
    let (folder, program) = (registry_path().display().to_string(), cluster().helper.display().to_string());
    // No other test may clean up after it.
    let _cleaning = cleaning();
    let mut killed = cluster().start_helper(&["hold-pod", &folder, "0dead0", &options, &program]);
    let answer = first_line(&mut killed);
    assert!(answer.trim().parse::<std::net::IpAddr>().is_ok(), "{answer:?}");
    killed.kill().unwrap();
    killed.wait().unwrap();

    let removed = registry().clean(CLEANERS).unwrap();
    for kind in ["namespace", "static pod", "run"] {
        assert!(removed.iter().any(|thing| thing.kind == kind), "no {kind} among {removed:?}");
    }
    assert!(removed.iter().all(|thing| thing.run.to_string() == "0dead0"), "{removed:?}");
    assert!(!cluster().has_namespace("0dead0".parse().unwrap()));
    // The living run beside it was not touched.
    live.ask(&*deployment);
    deployment.stop().unwrap();
    live.end();
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

/// A run for which this machine is not a node: its kernel reports another boot id.
fn start_elsewhere(options: &Kubernetes) -> Child {
    let boot_id = registry_path().with_file_name("boot-id");
    fs::write(&boot_id, "00000000-0000-0000-0000-000000000000\n").unwrap();
    let options = serde_json::to_string(options).unwrap();
    let script = "mount --bind \"$1\" /proc/sys/kernel/random/boot_id && shift && exec \"$@\"";
    Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(&boot_id)
        .arg(&cluster().helper)
        .args([
            "elsewhere",
            &registry_path().display().to_string(),
            &options,
            &cluster().helper.display().to_string(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What it prints until it has deployed.
fn report(reader: &mut impl BufRead) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "it ended before it had deployed: {lines:?}");
        match line.trim() {
            "deployed" => return lines,
            said => lines.push(said.to_owned()),
        }
    }
}

#[test]
fn on_a_machine_that_is_not_a_node_the_kubelet_is_queried_and_a_dead_one_is_noticed() {
    let _disturb = disturb();
    // On the node whose kubelet may die: the other node is cordoned.
    cluster().kubectl(&["cordon", "node-1"]);
    let mut child = start_elsewhere(&cluster().platform(Expose::NodePort));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let lines = report(&mut output);
    cluster().kubectl(&["uncordon", "node-1"]);
    assert!(lines[0].starts_with("node 10."), "{lines:#?}");
    assert_eq!(lines[1], "here false");
    assert!(lines[2].starts_with("reading Some(Usage") && !lines[2].contains("cpu_ns: 0"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("are not pinned to CPUs")), "{lines:#?}");

    cluster().kill("node-2.kubelet");
    writeln!(child.stdin.as_mut().unwrap(), "90").unwrap();
    let mut ended = String::new();
    output.read_line(&mut ended).unwrap();
    cluster().script("node", &["start", "node-2", "kubelet"]);
    cluster().kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", "node/node-2"]);
    assert!(ended.contains("its node node-2 is not ready"), "{ended}");
    output.read_to_string(&mut String::new()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!cluster().has_namespace("00e15e".parse().unwrap()));
}

#[test]
fn on_a_machine_that_is_not_a_node_a_daemon_set_sees_the_services_container() {
    let _disturb = disturb();
    let options = Kubernetes { observers: Observers::DaemonSet, ..cluster().platform(Expose::NodePort) };
    let mut child = start_elsewhere(&options);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let lines = report(&mut output);
    let observed = lines.iter().find(|line| line.starts_with("observed ")).expect("an agent that observes");
    assert!(observed.ends_with(" is here") && observed.len() > 64, "{observed}");
    drop(child.stdin.take());
    output.read_to_string(&mut String::new()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_does_not_carry_the_runs_label_survives_the_deployments_end() {
    let run = Run::begin();
    let deployment = run.deploy(&cluster().platform(Expose::PodIP), &Service::clone(&cluster().who_called()));
    let stranger = format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: stranger, namespace: {}}}, spec: {{ports: [{{port: 80}}]}}}}",
        namespace(&run)
    );
    cluster().apply(&stranger);
    cluster().apply(&stranger.replace(&namespace(&run), "default"));
    deployment.stop().unwrap();
    cluster().kubectl(&["get", "service", "stranger", "-n", &namespace(&run)]);
    run.end();
    cluster().kubectl(&["delete", "service", "stranger", "-n", "default"]);
}
