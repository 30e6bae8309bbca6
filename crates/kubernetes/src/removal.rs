//! Removing from a cluster what carries an owner's label: a deployment's objects at its end, the whole namespace at the run's end and
//! after a killed run.

use std::{
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams},
};

use super::{
    ClusterError, connection::Cluster, kubeconfig::ClusterMark, labels, namespace, run_cluster::RunCluster,
};
use crate::{
    Error, Environment, Netns, RunName,
    clean::{self, Traces},
    owner::Owner,
    registry::RunFolder,
    slots::Slot,
};

/// What a pod gets to end by itself, as services have on every platform.
pub(crate) const GRACE_S: u32 = 2;
/// How long pods may take to vanish: the grace, and what the kubelet and the network take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a static pod's mirror may take to follow its file.
const MIRROR_PATIENCE: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Kinds that make the pods.
const CONTROLLERS: [&str; 4] = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"];
const POLLS_PER_REMOVAL: usize = 5;

/// All that a deployment makes, on this machine and in the cluster. Dropping it removes all of it.
pub(crate) struct Made {
    pub cluster: Arc<RunCluster>,
    pub owner: Owner,
    slot: Slot,
    node: Netns,
    folder: Arc<RunFolder>,
    /// In which order to remove; those that make others come first.
    kinds: Vec<ApiResource>,
    static_pod: bool,
    removed: bool,
}

impl Made {
    /// Nothing yet.
    pub fn nothing(cluster: Arc<RunCluster>, slot: Slot, environment: &Environment) -> Made {
        let (node, folder) = (environment.node().clone(), Arc::clone(environment.folder()));
        let owner = slot.owner;
        Made { cluster, owner, slot, node, folder, kinds: Vec::new(), static_pod: false, removed: false }
    }

    /// Something of that kind is about to be made.
    pub fn will_hold(&mut self, kind: ApiResource) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// A static pod is about to be made.
    pub fn will_hold_static_pod(&mut self) {
        self.static_pod = true;
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Removes everything, once.
    pub fn remove(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        // The static pod's file among others.
        let traces = Traces::OnNode(&self.node);
        let here = clean::remove_owned(&self.owner, &self.folder.state(), &traces, &mut Vec::new());
        here.and(self.remove_from_cluster())?;
        self.slot.release();
        Ok(())
    }

    fn remove_from_cluster(&self) -> Result<(), Error> {
        let (cluster, selector) = (&self.cluster.cluster, labels::selector(&self.owner));
        let namespace = self.cluster.namespace();
        if self.static_pod {
            // Its mirror goes by itself, when its containers have. Removed before that, it would only seem gone.
            let deadline = Instant::now() + MIRROR_PATIENCE;
            while !pods(cluster, &namespace, &selector)?.is_empty() && Instant::now() < deadline {
                sleep(POLL_INTERVAL);
            }
        }
        let deadline = Instant::now() + PATIENCE;
        // Again and again: a controller that doesn't know yet that it is gone makes another pod.
        loop {
            for kind in self.kinds.iter().chain([&ApiResource::erase::<Pod>(&())]) {
                remove_kind(cluster, &namespace, kind, &selector)?;
            }
            for _ in 0..POLLS_PER_REMOVAL {
                let left = pods(cluster, &namespace, &selector)?;
                if left.is_empty() {
                    return Ok(());
                }
                if Instant::now() > deadline {
                    let seconds = PATIENCE.as_secs();
                    return Err(ClusterError::PodsRemain { pods: left.join(", "), seconds }.into());
                }
                sleep(POLL_INTERVAL);
            }
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!("{} was not removed wholly: {error}", self.owner);
        }
    }
}

/// Removes a run's namespaces from its clusters. Returns their names, each with its cluster's context.
pub(crate) fn remove_run(run: RunName, clusters: &[ClusterMark], node: &Netns) -> Result<Vec<String>, Error> {
    let mut removed = Vec::new();
    let mut outcome = Ok(());
    for mark in clusters {
        let one = Cluster::connect(mark.clone(), node).and_then(|cluster| namespace::remove(&cluster, run));
        let failure = match one {
            Ok(true) => {
                removed.push(format!("{} (context {})", namespace::name(run), mark.context));
                continue;
            }
            Ok(false) => continue,
            Err(error) => {
                let (namespace, context) = (namespace::name(run), mark.context.clone());
                Error::from(ClusterError::NamespaceLeft { namespace, context, reason: error.to_string() })
            }
        };
        match outcome {
            Ok(()) => outcome = Err(failure),
            Err(_) => tracing::warn!("{failure}"),
        }
    }
    outcome.map(|()| removed)
}

fn remove_kind(cluster: &Cluster, namespace: &str, kind: &ApiResource, selector: &str) -> Result<(), Error> {
    let outcome = cluster.attempt(|client| {
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, kind);
        // The collector of what a controller leaves would give its pods their own, longer grace, which nobody can shorten any more.
        let orphan = CONTROLLERS.contains(&kind.kind.as_str());
        let parameters = if orphan { DeleteParams::orphan() } else { DeleteParams::background() };
        let parameters = parameters.grace_period(GRACE_S);
        let which = ListParams::default().labels(selector);
        async move { api.delete_collection(&parameters, &which).await.map(drop) }
    });
    match outcome {
        Err(failure) if !failure.is_reason("NotFound") && !failure.is_reason("MethodNotAllowed") => {
            Err(cluster.explain(&format!("remove the {}", kind.plural), failure))
        }
        // What can't be removed by its label goes with the namespace.
        _ => Ok(()),
    }
}

/// Names of the pods that are left, on their way out or not.
fn pods(cluster: &Cluster, namespace: &str, selector: &str) -> Result<Vec<String>, Error> {
    let left = cluster.call("list the pods", |client| {
        let api: Api<Pod> = Api::namespaced(client, namespace);
        let which = ListParams::default().labels(selector);
        async move { api.list_metadata(&which).await }
    })?;
    Ok(left.items.into_iter().filter_map(|pod| pod.metadata.name).collect())
}
