//! Why a pod has ended, derived from its state in the cluster now and when it was deployed.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;

use crate::{
    api_failure::ApiFailure, connection::Cluster, nodes, startup_failure, startup_timeline::condition,
};

/// How long one query may take: slices wait for the answer.
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// A pod as it was deployed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeployedPod {
    pub name: String,
    pub uid: String,
    pub node: String,
    pub restarts: i32,
}

impl DeployedPod {
    pub fn of(pod: &Pod) -> DeployedPod {
        DeployedPod {
            name: pod.metadata.name.clone().unwrap_or_default(),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
            restarts: restarts(pod),
        }
    }
}

/// Queries the cluster about a pod. `Ok(None)`: as far as it knows, the pod is running. Failures are returned: a cluster that does not
/// answer says nothing about its pods.
pub(crate) fn ask(
    cluster: &Cluster,
    namespace: &str,
    member: &DeployedPod,
) -> Result<Option<String>, ApiFailure> {
    let api: Api<Pod> = Api::namespaced(cluster.client(), namespace);
    let name = member.name.clone();
    let pod = cluster.once(QUERY_TIMEOUT, async move { api.get_opt(&name).await })?;
    if let Some(why) = why(member, pod.as_ref()) {
        return Ok(Some(why));
    }
    let unready = pod.is_some_and(|pod| !condition(&pod, "Ready"));
    if !unready || member.node.is_empty() {
        return Ok(None);
    }
    let (api, name): (Api<Node>, _) = (Api::all(cluster.client()), member.node.clone());
    let node = cluster.once(QUERY_TIMEOUT, async move { api.get_opt(&name).await })?;
    Ok(match node {
        None => Some(format!("its node {} was removed from the cluster", member.node)),
        // A cordoned or tainted node keeps the pods that it has.
        Some(node) => nodes::unfit(&node)
            .filter(|why| why.starts_with(nodes::NOT_READY))
            .map(|why| format!("its node {} {why}", member.node)),
    })
}

/// Why the pod has ended.
fn why(member: &DeployedPod, pod: Option<&Pod>) -> Option<String> {
    let name = &member.name;
    let Some(pod) = pod else {
        // It was removed before it could be asked why.
        return Some(format!("the pod {name} was deleted or evicted by something other than this run"));
    };
    if pod.metadata.uid.as_ref() != Some(&member.uid) {
        return Some(format!("the pod {name} was replaced by another of the same name"));
    }
    let status = pod.status.as_ref()?;
    if status.phase.as_deref() == Some("Failed")
        && let Some(reason) = status.reason.as_deref()
    {
        let said = status.message.as_deref().unwrap_or("no further details");
        let reason = if reason == "Evicted" { "evicted" } else { reason };
        return Some(format!("the node ended the pod {name} ({reason}: {said})"));
    }
    let ended = status.container_statuses.iter().flatten().find_map(|container| {
        let anew = container.restart_count > member.restarts;
        let over = container.state.as_ref().is_some_and(|state| state.terminated.is_some());
        let ending = startup_failure::terminated(container)?;
        (anew || over).then(|| startup_failure::ending(pod, container, ending))
    });
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(match disruption(pod) {
            Some(said) => format!("the pod {name} was evicted by something other than this run ({said})"),
            None => format!("the pod {name} was deleted by something other than this run"),
        });
    }
    ended.map(|how| format!("the service in the pod {name} ended: {how}"))
}

/// Why the cluster itself removes the pod: an eviction as by `kubectl drain`, a taint, a pod of higher priority
/// (<https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions>).
fn disruption(pod: &Pod) -> Option<String> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let told = conditions.find(|c| c.type_ == "DisruptionTarget" && c.status == "True")?;
    let reason = told.reason.as_deref().unwrap_or("no reason given");
    Some(match told.message.as_deref() {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    })
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    statuses.map(|container| container.restart_count).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn member() -> DeployedPod {
        DeployedPod { name: "p".to_owned(), uid: "u".to_owned(), node: "n".to_owned(), restarts: 0 }
    }

    fn pod(metadata: Value, status: Value) -> Pod {
        serde_json::from_value(json!({"metadata": metadata, "status": status, "spec": {"containers": [
            {"name": "service", "resources": {"limits": {"memory": "64Mi"}}}]}}))
        .unwrap()
    }

    fn running(restarts: i32, last: Value) -> Value {
        json!({"phase": "Running", "containerStatuses": [{"name": "service", "image": "i", "imageID": "", "ready": true,
            "restartCount": restarts, "state": {"running": {}}, "lastState": last}]})
    }

    #[test]
    fn an_unchanged_pod_has_not_ended() {
        assert_eq!(why(&member(), Some(&pod(json!({"name": "p", "uid": "u"}), running(0, json!({}))))), None);
    }

    #[test]
    fn a_deleted_or_replaced_pod_is_distinguished_from_one_that_died() {
        assert!(
            why(&member(), None).unwrap().contains("was deleted or evicted by something other than this run")
        );
        let going = json!({"name": "p", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert!(
            why(&member(), Some(&pod(going, running(0, json!({})))))
                .unwrap()
                .contains("was deleted by something other than this run")
        );
        let other = pod(json!({"name": "p", "uid": "v"}), running(0, json!({})));
        assert!(why(&member(), Some(&other)).unwrap().contains("was replaced"));
    }

    #[test]
    fn a_restart_counts_as_an_end_and_names_the_limit_that_was_too_small() {
        let last = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
        let killed = pod(json!({"name": "p", "uid": "u"}), running(1, last.clone()));
        let words = why(&member(), Some(&killed)).unwrap();
        assert!(words.contains("OOM killer ended it: it needs more than its limit of 64Mi"), "{words}");
        // What happened before it was deployed does not count.
        assert_eq!(why(&DeployedPod { restarts: 1, ..member() }, Some(&killed)), None);
    }

    #[test]
    fn a_pod_that_is_drained_from_its_node_is_reported_as_evicted() {
        let going = json!({"name": "p", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"});
        let mut status = running(0, json!({}));
        status["conditions"] = json!([{"type": "DisruptionTarget", "status": "True",
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}]);
        let words = why(&member(), Some(&pod(going, status))).unwrap();
        let told = "the pod p was evicted by something other than this run (EvictionByEvictionAPI: Eviction API: evicting)";
        assert_eq!(words, told);
    }

    #[test]
    fn an_evicted_pod_quotes_the_kubelet() {
        let status = json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."});
        let words = why(&member(), Some(&pod(json!({"name": "p", "uid": "u"}), status))).unwrap();
        assert!(words.contains("(evicted: The node was low on resource: memory.)"), "{words}");
    }
}
