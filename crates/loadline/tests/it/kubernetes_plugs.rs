//! Plugs pulled on a cluster in the middle of a run: each is said within seconds, the other cells go on, what was measured is kept, and
//! nothing is left behind.

use std::process::Stdio;
use std::time::Duration;

use crate::support::cluster::{Cluster, cluster, disturbed_cluster};
use crate::support::place::{Ended, Place, ended};
use crate::support::{hunger, leftovers};

/// What goes on while the plugs are pulled: a site on the host and one in a pod.
const LONG: [&str; 20] = [
    "compare",
    "--on",
    "host",
    "--on",
    "kubernetes:podIP+other-node",
    "--no-twin",
    "--limit-memory",
    "128Mi",
    "--rate",
    "300/s",
    "--slice",
    "200ms",
    "--on-failure",
    "continue",
    "--repeats",
    "0",
    "--deployments",
    "1",
    "--warmup",
    "1s",
];

/// Starts a long run, does something to its pod once slices are measured, and returns how it ended.
fn meanwhile(place: &Place, cluster: &Cluster, blocks: &str, act: impl FnOnce(&str)) -> Ended {
    let mut command = place.command(LONG.into_iter().chain(["--blocks", blocks]));
    command.env("KUBECONFIG", &cluster.kubeconfig).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    place.wait_for_rows("slice", 4);
    act(&format!("loadline-{}", place.store().label()));
    ended(child.wait_with_output().expect("a child"))
}

/// The run went on without the pod, kept what it had measured, and left nothing.
fn assert_went_on(place: &Place, cluster: &Cluster, ended: &Ended, reason: &str, slices: usize) {
    ended.assert_went_on();
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    let kept = place.store().count("slice").expect("a table");
    assert!(kept > slices, "only {kept} slices");
    assert_removed(place, cluster);
}

fn assert_removed(place: &Place, cluster: &Cluster) {
    leftovers::assert_none(&place.store().label());
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

#[test]
fn a_pod_that_is_deleted_is_named_and_the_others_go_on() {
    let (cluster, place) = (&cluster(), Place::shared());
    let ended = meanwhile(&place, cluster, "30", |namespace| {
        cluster.kubectl(&["delete", "pods", "--all", "--now", "--wait=false", "-n", namespace]);
    });
    assert_went_on(&place, cluster, &ended, "deleted", 30);
}

#[test]
fn a_pod_that_is_evicted_is_told_from_one_that_somebody_deletes() {
    let (cluster, place) = (&cluster(), Place::shared());
    let ended = meanwhile(&place, cluster, "30", |namespace| {
        let pod =
            cluster.kubectl(&["get", "pods", "-n", namespace, "-o", "jsonpath={.items[0].metadata.name}"]);
        // What `kubectl drain` asks for, one pod at a time.
        let eviction = format!(
            r#"{{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {{"name": "{pod}", "namespace": "{namespace}"}}}}"#
        );
        place.write("eviction.json", &eviction);
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
        cluster.kubectl(&[
            "create",
            "--raw",
            &path,
            "-f",
            &place.path("eviction.json").display().to_string(),
        ]);
    });
    // A pod that is gone before it is asked does not say which of the two it was.
    let told = "was evicted by something other than this run (EvictionByEvictionAPI";
    let gone = "was deleted or evicted by something other than this run";
    let reason = if ended.stderr.contains(gone) { gone } else { told };
    assert_went_on(&place, cluster, &ended, reason, 30);
}

#[test]
fn a_pod_that_runs_out_of_memory_is_named_with_its_limit_and_the_others_go_on() {
    let (cluster, place) = (&cluster(), Place::shared());
    let ended = meanwhile(&place, cluster, "30", |namespace| {
        let path = "jsonpath={.items[0].status.containerStatuses[0].containerID}";
        hunger::starve(&cluster.kubectl(&["get", "pods", "-n", namespace, "-o", path]));
    });
    let told = "the kernel's OOM killer ended it: it needs more than its limit of 128 MiB";
    assert_went_on(&place, cluster, &ended, told, 30);
}

#[test]
fn an_api_server_that_is_killed_and_comes_back_ends_no_run() {
    let (cluster, place) = (&disturbed_cluster(), Place::shared());
    let ended = meanwhile(&place, cluster, "40", |_| {
        cluster.kill("api-server");
        std::thread::sleep(Duration::from_secs(2));
        cluster.script("api-server", &[]);
    });
    ended.assert_measured();
    assert_eq!(place.store().count("slice"), Some(80), "{}", ended.stderr);
    assert_removed(&place, cluster);
}

#[test]
fn a_nodes_kubelet_that_is_killed_ends_no_measuring_and_its_return_lets_everything_go() {
    let (cluster, place) = (&disturbed_cluster(), Place::shared());
    let ended = meanwhile(&place, cluster, "30", |_| {
        cluster.kill("node-2.kubelet");
        std::thread::sleep(Duration::from_secs(2));
        cluster.script("node", &["start", "node-2", "kubelet"]);
    });
    ended.assert_measured();
    assert_eq!(place.store().count("slice"), Some(60), "{}", ended.stderr);
    assert_removed(&place, cluster);
}

#[test]
fn a_run_that_is_killed_is_cleaned_up_after_and_strangers_are_left_alone() {
    let (cluster, place) = (&cluster(), Place::cleaning());
    let mut command = place.command(LONG.into_iter().chain(["--blocks", "100"]));
    let mut child = command.env("KUBECONFIG", &cluster.kubeconfig).spawn().expect("the program starts");
    place.wait_for_rows("slice", 2);
    let strangers = Strangers::add(cluster, &place);
    child.kill().and_then(|()| child.wait()).expect("a child");
    assert!(cluster.has_namespace_of(&place.store().label()), "a killed run leaves its namespace");
    let cleaned = ended(
        place.command(["clean"]).env("KUBECONFIG", &cluster.kubeconfig).output().expect("the program starts"),
    );
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(cleaned.stdout.contains("removed namespace"), "{}", cleaned.stdout);
    assert_removed(&place, cluster);
    strangers.assert_untouched();
}

/// Objects that could be taken for those of the newest run, and are somebody else's.
struct Strangers<'a> {
    cluster: &'a Cluster,
    file: String,
    found: String,
}

impl<'a> Strangers<'a> {
    fn add(cluster: &'a Cluster, place: &Place) -> Strangers<'a> {
        let run = place.store().label();
        let pod = "containers: [{name: service, image: 'localhost/pause:1', imagePullPolicy: Never}]";
        place.write(
            "strangers.yaml",
            &format!(
                "{{apiVersion: v1, kind: Namespace, metadata: {{name: loadline-{run}0, labels: {{app: loadline}}}}}}\n---\n\
                 {{apiVersion: v1, kind: Pod, metadata: {{name: loadline-{run}-1, namespace: default, labels: {{loadline.slot: '1'}}}}, \
                 spec: {{{pod}}}}}\n---\n\
                 {{apiVersion: v1, kind: ConfigMap, metadata: {{name: stranger, namespace: loadline-{run}0, \
                 labels: {{loadline.run: '{run}0'}}}}}}\n"
            ),
        );
        let file = place.path("strangers.yaml").display().to_string();
        cluster.kubectl(&["apply", "-f", &file]);
        let found = Strangers::find(cluster, &file);
        Strangers { cluster, file, found }
    }

    /// Which they are, what they are labelled with, and whether somebody removes them.
    fn find(cluster: &Cluster, file: &str) -> String {
        let one = "{.metadata.name} {.metadata.uid} {.metadata.labels} {.metadata.deletionTimestamp}";
        let path = format!("jsonpath={{range .items[*]}}{one}{{end}}");
        cluster.kubectl(&["get", "-f", file, "-o", &path])
    }

    fn assert_untouched(self) {
        assert_eq!(Strangers::find(self.cluster, &self.file), self.found);
    }
}

impl Drop for Strangers<'_> {
    fn drop(&mut self) {
        self.cluster.kubectl(&["delete", "--now", "--ignore-not-found", "-f", &self.file]);
    }
}
