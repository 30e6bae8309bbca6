//! Waiting until the pods of a workload are ready, or until the cluster reports why they cannot be.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::{Api, api::ListParams};

use loadline_machine::wait::CLUSTER_INTERVAL;

use crate::{
    connection::Cluster,
    error::ClusterError,
    image::PodImage,
    logs,
    startup_failure::{self, StartupFailure},
    startup_timeline::condition,
};

/// How long a start without failures may take: pulling a large image, a node that has yet to join.
const READY_TIMEOUT: Duration = Duration::from_secs(300);
/// A wait that is worth reporting.
const LONG: Duration = Duration::from_secs(2);

/// The pods that are waited for.
pub(crate) struct WaitTarget {
    pub namespace: String,
    /// The label selector of the pods.
    pub selector: String,
    /// Only those on this node.
    pub node: Option<String>,
    /// The prefix of their names.
    pub workload: String,
    pub replicas: usize,
    pub image: Option<PodImage>,
}

/// The pods once all of them are ready, by name.
pub(crate) fn wait_until_ready(
    cluster: &Cluster,
    target: &WaitTarget,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Pod>, ClusterError> {
    let begun = Instant::now();
    let mut in_the_way: Option<Instant> = None;
    let mut told = String::new();
    loop {
        let mut pods = pods(cluster, &target.namespace, &target.selector, target.node.as_deref())?;
        if pods.len() >= target.replicas && pods.iter().all(|pod| condition(pod, "Ready")) {
            pods.sort_by_key(|pod| pod.metadata.name.clone());
            return Ok(pods);
        }
        let stuck =
            pods.iter().find_map(|pod| Some((pod, startup_failure::of_pod(pod, target.image.as_ref())?)));
        match stuck {
            Some((pod, obstacle)) => {
                let since = *in_the_way.get_or_insert_with(Instant::now);
                if since.elapsed() >= obstacle.may_last {
                    return Err(explain(cluster, target, pod, obstacle));
                }
            }
            None => in_the_way = None,
        }
        if pods.len() < target.replicas
            && let Some(refused) = refusal(cluster, target)?
        {
            return Err(ClusterError::Stuck { pod: target.workload.clone(), why: refused.why });
        }
        let state = state(&pods);
        if begun.elapsed() > LONG && state != told {
            progress(&state);
            told.clone_from(&state);
        }
        if begun.elapsed() > READY_TIMEOUT {
            let (workload, seconds) = (target.workload.clone(), READY_TIMEOUT.as_secs());
            return Err(ClusterError::NotReady { workload, seconds, state });
        }
        sleep(CLUSTER_INTERVAL);
    }
}

/// The pods that are not being removed, on all nodes or on one.
pub(crate) fn pods(
    cluster: &Cluster,
    namespace: &str,
    selector: &str,
    node: Option<&str>,
) -> Result<Vec<Pod>, ClusterError> {
    let found = cluster.call("list the pods", |client| {
        let mut parameters = ListParams::default().labels(selector);
        parameters.field_selector = node.map(|node| format!("spec.nodeName={node}"));
        let api: Api<Pod> = Api::namespaced(client, namespace);
        async move { api.list(&parameters).await }
    })?;
    Ok(found.items.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect())
}

fn refusal(cluster: &Cluster, target: &WaitTarget) -> Result<Option<StartupFailure>, ClusterError> {
    let events = cluster.call("list the events", |client| {
        let parameters = ListParams::default().fields("reason=FailedCreate");
        let api: Api<Event> = Api::namespaced(client, &target.namespace);
        async move { api.list(&parameters).await }
    })?;
    Ok(events.items.iter().find_map(|event| startup_failure::of_event(event, &target.workload)))
}

/// The error of the failure, with the service's last output if it ran.
fn explain(cluster: &Cluster, target: &WaitTarget, pod: &Pod, obstacle: StartupFailure) -> ClusterError {
    let name = pod.metadata.name.clone().unwrap_or_default();
    let mut why = obstacle.why;
    if obstacle.ran {
        let words = logs::last_lines(cluster, &target.namespace, &name);
        if !words.is_empty() {
            why += &format!("; its last output:\n{words}");
        }
    }
    ClusterError::Stuck { pod: name, why }
}

/// What is being waited for, as part of a sentence.
fn state(pods: &[Pod]) -> String {
    let Some(pod) = pods.iter().find(|pod| !condition(pod, "Ready")) else {
        return "waiting for the cluster to create the pod".to_owned();
    };
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let waiting = statuses.filter_map(|s| s.state.as_ref()?.waiting.as_ref()?.reason.clone()).next();
    match waiting.as_deref() {
        _ if !condition(pod, "PodScheduled") => "waiting for a node".to_owned(),
        Some("ContainerCreating") => "waiting for the image and the container".to_owned(),
        Some(reason) => format!("waiting for the container ({reason})"),
        None => "waiting for the pod to be ready".to_owned(),
    }
}
