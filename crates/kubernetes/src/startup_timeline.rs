//! When a pod reached each phase of its start, by our own clock: the API gives times in whole seconds, so watches are used instead.
//! Scheduling and readiness come from the pod, the rest from the kubelet's events. The times are those at which the cluster reports a
//! phase, milliseconds after it was reached; readiness the kubelet itself notices at most a second late (its `PLEG` relists).

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::{
    Api, Resource,
    api::{ListParams, WatchEvent, WatchParams},
};
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;

use loadline_machine::wait::CLUSTER_INTERVAL;
use loadline_platform::Phase;

use crate::connection::Cluster;

/// The phases of a start, in order.
pub(crate) const PHASES: [&str; 5] = ["scheduled", "image", "created", "started", "ready"];

/// Watches pods and their events until dropped.
pub(crate) struct StartupTimeline {
    begun: Instant,
    seen: Arc<Mutex<BTreeMap<&'static str, Instant>>>,
    watches: [JoinHandle<()>; 2],
}

impl StartupTimeline {
    /// Starts watching. `pods` selects the pods by label, and their names start with `workload`.
    pub fn watch(cluster: &Cluster, namespace: &str, pods: &str, workload: &str) -> StartupTimeline {
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let note = |seen: &Arc<Mutex<BTreeMap<&'static str, Instant>>>, steps: Vec<&'static str>| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            for step in steps {
                seen.entry(step).or_insert_with(Instant::now);
            }
        };
        let (client, seen_too) = (cluster.client(), Arc::clone(&seen));
        let api: Api<Pod> = Api::namespaced(client.clone(), namespace);
        let selected = pods.to_owned();
        let of_pods = cluster.handle().spawn(async move {
            let list = ListParams::default().labels(&selected);
            let watch = WatchParams::default().labels(&selected);
            follow(&api, &list, &watch, |pod| note(&seen_too, phases_of_pod(pod))).await;
        });
        let (api, seen_too): (Api<Event>, _) = (Api::namespaced(client, namespace), Arc::clone(&seen));
        let workload = workload.to_owned();
        let of_events = cluster.handle().spawn(async move {
            let fields = "involvedObject.kind=Pod";
            let list = ListParams::default().fields(fields);
            let watch = WatchParams::default().fields(fields);
            follow(&api, &list, &watch, |event| note(&seen_too, phases_of_event(event, &workload))).await;
        });
        StartupTimeline { begun: Instant::now(), seen, watches: [of_pods, of_events] }
    }

    /// What happened when. A step that was missed, because the server was away, is left out.
    pub fn phases(&self) -> Vec<Phase> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut phases: Vec<Phase> = PHASES
            .iter()
            .filter_map(|&name| Some(Phase { name, after: seen.get(name)?.duration_since(self.begun) }))
            .collect();
        phases.sort_by_key(|phase| phase.after);
        phases
    }
}

impl Drop for StartupTimeline {
    fn drop(&mut self) {
        self.watches.iter().for_each(JoinHandle::abort);
    }
}

/// Passes every object to `show`, first as it is and then at each change, for ever.
async fn follow<K>(api: &Api<K>, list: &ListParams, watch: &WatchParams, mut show: impl FnMut(&K))
where
    K: Resource + Clone + DeserializeOwned + Debug,
{
    loop {
        if let Ok(found) = api.list(list).await {
            found.items.iter().for_each(&mut show);
            let from = found.metadata.resource_version.unwrap_or_default();
            if let Ok(changes) = api.watch(watch, &from).await {
                let mut changes = std::pin::pin!(changes);
                while let Some(Ok(change)) = changes.next().await {
                    if let WatchEvent::Added(object) | WatchEvent::Modified(object) = change {
                        show(&object);
                    }
                }
            }
        }
        tokio::time::sleep(CLUSTER_INTERVAL).await;
    }
}

fn phases_of_pod(pod: &Pod) -> Vec<&'static str> {
    let holds = |kind| condition(pod, kind);
    let steps = [("scheduled", holds("PodScheduled")), ("ready", holds("Ready"))];
    steps.into_iter().filter(|(_, reached)| *reached).map(|(step, _)| step).collect()
}

/// Whether a condition of the pod is true.
pub(crate) fn condition(pod: &Pod, kind: &str) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == kind && condition.status == "True")
}

/// The kubelet's reasons (kubernetes, pkg/kubelet/events/event.go). Of several containers the first counts.
fn phases_of_event(event: &Event, workload: &str) -> Vec<&'static str> {
    let name = event.involved_object.name.as_deref().unwrap_or_default();
    if !name.strip_prefix(workload).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) {
        return Vec::new();
    }
    match event.reason.as_deref() {
        Some("Pulled") => vec!["image"],
        Some("Created") => vec!["created"],
        Some("Started") => vec!["started"],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn phases_follow_from_conditions_that_are_true() {
        let pod: Pod = serde_json::from_value(json!({"status": {"conditions": [
            {"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}]}}))
        .unwrap();
        assert_eq!(phases_of_pod(&pod), ["scheduled"]);
        assert_eq!(phases_of_pod(&Pod::default()), [""; 0]);
    }

    #[test]
    fn events_count_for_the_pods_of_their_workload_only() {
        let event = |name: &str, reason: &str| -> Event {
            serde_json::from_value(
                json!({"metadata": {}, "reason": reason, "involvedObject": {"kind": "Pod", "name": name}}),
            )
            .unwrap()
        };
        assert_eq!(
            phases_of_event(&event("loadline-3fa90c-1-ab-cd", "Started"), "loadline-3fa90c-1"),
            ["started"]
        );
        assert_eq!(
            phases_of_event(&event("loadline-3fa90c-1-ab-cd", "Pulled"), "loadline-3fa90c-1"),
            ["image"]
        );
        assert_eq!(
            phases_of_event(&event("loadline-3fa90c-12-ab-cd", "Started"), "loadline-3fa90c-1"),
            [""; 0]
        );
        assert_eq!(
            phases_of_event(&event("loadline-3fa90c-1-ab-cd", "BackOff"), "loadline-3fa90c-1"),
            [""; 0]
        );
    }
}
