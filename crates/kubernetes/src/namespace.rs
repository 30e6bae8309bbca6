//! The run's namespace: it contains everything that the run creates in a cluster, and is removed with all of it.
//! A namespace of the same name without the run's label is not the run's and is never touched.

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

/// How long its removal may take, including the pods in it and the finalizers of controllers.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(120);

/// Pods in the node's network, with privileges or a port of the host need this where Pod Security is enforced
/// (<https://kubernetes.io/docs/concepts/security/pod-security-admission/>).
const POD_SECURITY: (&str, &str) = ("pod-security.kubernetes.io/enforce", "privileged");

/// Creates it, unless this run has already created it.
pub(crate) fn ensure(cluster: &Cluster, run: RunName) -> Result<(), ClusterError> {
    let mut labels = labels::of(&Owner::run(run));
    labels.insert(POD_SECURITY.0.to_owned(), POD_SECURITY.1.to_owned());
    let metadata =
        ObjectMeta { name: Some(labels::namespace(run)), labels: Some(labels), ..Default::default() };
    let namespace = Namespace { metadata, ..Default::default() };
    let what = format!("make the namespace {}", labels::namespace(run));
    // Created and not applied: applying would put the label on an existing namespace that is not the run's.
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

/// Removes it with everything in it, and waits until it is gone. Returns whether it existed.
pub(crate) fn remove(cluster: &Cluster, run: RunName) -> Result<bool, ClusterError> {
    let Some(found) = find(cluster, run)? else { return Ok(false) };
    let name = labels::namespace(run);
    let uid = found.metadata.uid;
    // Only the namespace that was just checked.
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
    let gone = wait::until(REMOVAL_TIMEOUT, CLUSTER_INTERVAL, || match get(cluster, &name) {
        Ok(Some(left)) if left.metadata.uid == uid => {
            held = Some(left);
            None
        }
        outcome => Some(outcome.map(|_| true)),
    });
    gone.unwrap_or_else(|| {
        let remaining = remaining(&held.unwrap_or_default());
        Err(ClusterError::NamespaceHeld { name, seconds: REMOVAL_TIMEOUT.as_secs(), remaining })
    })
}

/// The run's own namespace, if it exists.
fn find(cluster: &Cluster, run: RunName) -> Result<Option<Namespace>, ClusterError> {
    let name = labels::namespace(run);
    let found = get(cluster, &name)?;
    match &found {
        Some(namespace) if !labels::has_run_label(&namespace.metadata, run) => {
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

/// What still blocks the removal, from the namespace's conditions (`NamespaceContentRemaining`, `NamespaceFinalizersRemaining`, …).
fn remaining(namespace: &Namespace) -> String {
    let conditions = namespace.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let said: Vec<&str> =
        conditions.filter(|c| c.status == "True").filter_map(|c| c.message.as_deref()).collect();
    if said.is_empty() { "the cluster does not say why".to_owned() } else { said.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_blocks_a_removal_is_read_from_the_conditions_that_are_true() {
        let namespace: Namespace = serde_json::from_value(serde_json::json!({"status": {"conditions": [
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "All resources successfully discovered"},
            {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "example.com/hold in 1 resource instances"}]}}))
        .unwrap();
        assert_eq!(remaining(&namespace), "example.com/hold in 1 resource instances");
        assert_eq!(remaining(&Namespace::default()), "the cluster does not say why");
    }
}
