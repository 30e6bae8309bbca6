//! The run's namespace: it holds everything that the run makes in a cluster, and goes with all of it.
//! One of the same name that lacks the run's label is somebody else's and is never touched.

use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api,
    api::{DeleteParams, ObjectMeta, PostParams, Preconditions},
};

use loadline_machine::{
    Owner, RUN_LABEL, RunName,
    wait::{self, CLUSTER_INTERVAL},
};

use crate::{connection::Cluster, error::ClusterError, labels};

/// How long its removal may take: that of the pods in it, and of what controllers add to their own removal.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(60);

/// Pods in the node's network, with privileges or a port of the host need this where Pod Security is enforced
/// (<https://kubernetes.io/docs/concepts/security/pod-security-admission/>).
const POD_SECURITY: (&str, &str) = ("pod-security.kubernetes.io/enforce", "privileged");

/// Makes it, or finds it made by this run.
pub(crate) fn ensure(cluster: &Cluster, run: RunName) -> Result<(), ClusterError> {
    let mut labels = labels::of(&Owner::run(run));
    labels.insert(POD_SECURITY.0.to_owned(), POD_SECURITY.1.to_owned());
    let metadata =
        ObjectMeta { name: Some(labels::namespace(run)), labels: Some(labels), ..Default::default() };
    let namespace = Namespace { metadata, ..Default::default() };
    let what = format!("make the namespace {}", labels::namespace(run));
    // Made and not applied: applying would put the label on somebody else's.
    let made = cluster.attempt(|client| {
        let namespace = namespace.clone();
        let parameters = PostParams { field_manager: Some(labels::MANAGER.to_owned()), ..Default::default() };
        async move { Api::all(client).create(&parameters, &namespace).await }
    });
    match made {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_reason("AlreadyExists") => find(cluster, run).map(drop),
        Err(failure) => Err(cluster.explain(&what, failure)),
    }
}

/// Removes it with all that is in it, and waits until it is gone. Says whether there was one.
pub(crate) fn remove(cluster: &Cluster, run: RunName) -> Result<bool, ClusterError> {
    let Some(found) = find(cluster, run)? else { return Ok(false) };
    let name = labels::namespace(run);
    let uid = found.metadata.uid;
    // Only the very one that was looked at.
    let only = Preconditions { uid: uid.clone(), ..Default::default() };
    let parameters = DeleteParams::background().preconditions(only);
    let removal = cluster.attempt(|client| {
        let (name, parameters) = (name.clone(), parameters.clone());
        async move { Api::<Namespace>::all(client).delete(&name, &parameters).await.map(drop) }
    });
    match removal {
        Err(failure) if !failure.is_reason("NotFound") && !failure.is_reason("Conflict") => {
            return Err(cluster.explain(&format!("remove the namespace {name}"), failure));
        }
        _ => {}
    }
    let mut held = None;
    let gone = wait::until(REMOVAL_PATIENCE, CLUSTER_INTERVAL, || match get(cluster, &name) {
        Ok(Some(left)) if left.metadata.uid == uid => {
            held = Some(left);
            None
        }
        outcome => Some(outcome.map(|_| true)),
    });
    gone.unwrap_or_else(|| {
        let holds = holds(&held.unwrap_or_default());
        Err(ClusterError::NamespaceHeld { name, seconds: REMOVAL_PATIENCE.as_secs(), holds })
    })
}

/// The run's own namespace, if it is there.
fn find(cluster: &Cluster, run: RunName) -> Result<Option<Namespace>, ClusterError> {
    let name = labels::namespace(run);
    let found = get(cluster, &name)?;
    match &found {
        Some(namespace) if !labels::carries(&namespace.metadata, run) => {
            let label = format!("{RUN_LABEL}={run}");
            Err(ClusterError::ForeignNamespace { name, label })
        }
        _ => Ok(found),
    }
}

fn get(cluster: &Cluster, name: &str) -> Result<Option<Namespace>, ClusterError> {
    cluster.call(&format!("look at the namespace {name}"), |client| {
        let name = name.to_owned();
        async move { Api::all(client).get_opt(&name).await }
    })
}

/// What the namespace's conditions say holds it (`NamespaceContentRemaining`, `NamespaceFinalizersRemaining`, …).
fn holds(namespace: &Namespace) -> String {
    let conditions = namespace.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let said: Vec<&str> =
        conditions.filter(|c| c.status == "True").filter_map(|c| c.message.as_deref()).collect();
    if said.is_empty() { "the cluster doesn't say why".to_owned() } else { said.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_a_namespace_is_read_from_the_conditions_that_are_true() {
        let namespace: Namespace = serde_json::from_value(serde_json::json!({"status": {"conditions": [
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "All resources successfully discovered"},
            {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "example.com/hold in 1 resource instances"}]}}))
        .unwrap();
        assert_eq!(holds(&namespace), "example.com/hold in 1 resource instances");
        assert_eq!(holds(&Namespace::default()), "the cluster doesn't say why");
    }
}
