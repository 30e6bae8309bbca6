//! Waiting for the pods of a workload until they are ready, or until the cluster says why they won't be.

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
    moments::condition,
    obstacle::{self, Obstacle},
};

/// How long a start may take in which nothing goes wrong: pulling a large image, a node that is still to come.
const READY_PATIENCE: Duration = Duration::from_secs(300);
/// How long something may stand in the way that may pass by itself.
const OBSTACLE_PATIENCE: Duration = Duration::from_secs(10);
/// A wait that is worth telling of.
const LONG: Duration = Duration::from_secs(2);

/// Whose pods are waited for.
pub(crate) struct Awaited {
    pub namespace: String,
    /// The pods, by label.
    pub selector: String,
    /// Those of one node only.
    pub node: Option<String>,
    /// Begins their names.
    pub workload: String,
    pub replicas: usize,
    pub image: Option<PodImage>,
}

/// The pods once all of them are ready, by name.
pub(crate) fn until_ready(
    cluster: &Cluster,
    awaited: &Awaited,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Pod>, ClusterError> {
    let begun = Instant::now();
    let mut in_the_way: Option<Instant> = None;
    let mut told = String::new();
    loop {
        let mut pods = pods(cluster, &awaited.namespace, &awaited.selector, awaited.node.as_deref())?;
        if pods.len() >= awaited.replicas && pods.iter().all(|pod| condition(pod, "Ready")) {
            pods.sort_by_key(|pod| pod.metadata.name.clone());
            return Ok(pods);
        }
        let stuck = pods.iter().find_map(|pod| Some((pod, obstacle::of_pod(pod, awaited.image.as_ref())?)));
        match stuck {
            Some((pod, obstacle)) => {
                let since = *in_the_way.get_or_insert_with(Instant::now);
                if !obstacle.may_pass || since.elapsed() > OBSTACLE_PATIENCE {
                    return Err(explain(cluster, awaited, pod, obstacle));
                }
            }
            None => in_the_way = None,
        }
        if pods.len() < awaited.replicas
            && let Some(refused) = refusal(cluster, awaited)?
        {
            return Err(ClusterError::Stuck { pod: awaited.workload.clone(), why: refused.why });
        }
        let state = state(&pods);
        if begun.elapsed() > LONG && state != told {
            progress(&state);
            told.clone_from(&state);
        }
        if begun.elapsed() > READY_PATIENCE {
            let (workload, seconds) = (awaited.workload.clone(), READY_PATIENCE.as_secs());
            return Err(ClusterError::NotReady { workload, seconds, state });
        }
        sleep(CLUSTER_INTERVAL);
    }
}

/// The pods that aren't being removed, of all nodes or of one.
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

fn refusal(cluster: &Cluster, awaited: &Awaited) -> Result<Option<Obstacle>, ClusterError> {
    let events = cluster.call("list the events", |client| {
        let parameters = ListParams::default().fields("reason=FailedCreate");
        let api: Api<Event> = Api::namespaced(client, &awaited.namespace);
        async move { api.list(&parameters).await }
    })?;
    Ok(events.items.iter().find_map(|event| obstacle::of_event(event, &awaited.workload)))
}

/// The obstacle, with the service's last words if it ran.
fn explain(cluster: &Cluster, awaited: &Awaited, pod: &Pod, obstacle: Obstacle) -> ClusterError {
    let name = pod.metadata.name.clone().unwrap_or_default();
    let mut why = obstacle.why;
    if obstacle.ran {
        let words = logs::last_lines(cluster, &awaited.namespace, &name);
        if !words.is_empty() {
            why += &format!("; its last words:\n{words}");
        }
    }
    ClusterError::Stuck { pod: name, why }
}

/// What is being waited for, in half a sentence.
fn state(pods: &[Pod]) -> String {
    let Some(pod) = pods.iter().find(|pod| !condition(pod, "Ready")) else {
        return "waiting for the cluster to make the pod".to_owned();
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
