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

use loadline_machine::{
    Cleanup, Environment, Netns, NetworkScope, Owner, Resources, Slot,
    wait::{self, CLUSTER_INTERVAL},
};

use crate::{
    cleaner::CLEANERS, connection::Cluster, error::ClusterError, labels, pod_spec::GRACE_S,
    run_cluster::RunCluster,
};

/// How long pods may take to vanish: the grace period, the time of the kubelet and the network, and after a restart of the API server the
/// minute for which controllers and kubelets wait before they watch again.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long a static pod's mirror may take to follow its file.
const MIRROR_TIMEOUT: Duration = Duration::from_secs(20);
/// Kinds that create the pods.
const CONTROLLERS: [&str; 4] = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"];
const POLLS_PER_REMOVAL: usize = 5;

/// The cleanup guard of everything that a deployment creates, on this machine and in the cluster.
pub(crate) type ClusterCleanup = Cleanup<InCluster>;

/// What a deployment creates in the cluster.
pub(crate) struct InCluster {
    pub cluster: Arc<RunCluster>,
    owner: Owner,
    /// The kinds in the order of removal; those that create others come first.
    kinds: Vec<ApiResource>,
    static_pod: bool,
}

/// The guard of a new deployment, which has nothing yet. Its rules are in `network`.
pub(crate) fn guard(
    cluster: Arc<RunCluster>,
    slot: Slot,
    environment: &Environment,
    network: &Netns,
) -> ClusterCleanup {
    let scope = NetworkScope::OnNode(network.clone());
    let made = InCluster { cluster, owner: slot.owner, kinds: Vec::new(), static_pod: false };
    Cleanup::new(slot, environment.folder(), scope, CLEANERS, made)
}

impl Resources for InCluster {
    type Error = ClusterError;

    fn remove_elsewhere(&mut self) -> Result<(), ClusterError> {
        self.remove_from_cluster()
    }
}

impl InCluster {
    /// Registers that an object of this kind is about to be created.
    pub fn register(&mut self, kind: ApiResource) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    /// Registers that a static pod is about to be created.
    pub fn register_static_pod(&mut self) {
        self.static_pod = true;
    }

    fn remove_from_cluster(&self) -> Result<(), ClusterError> {
        let (cluster, selector) = (&self.cluster.cluster, labels::selector(&self.owner));
        let namespace = self.cluster.namespace();
        if self.static_pod {
            // Its mirror pod disappears on its own after its containers. Removed before that, the pod would only seem gone.
            let gone = || match pods(cluster, &namespace, &selector) {
                Ok(left) => left.is_empty().then_some(Ok(())),
                Err(error) => Some(Err(error)),
            };
            wait::until(MIRROR_TIMEOUT, CLUSTER_INTERVAL, gone).transpose()?;
        }
        let deadline = Instant::now() + TIMEOUT;
        // Repeatedly: a controller that has not yet noticed its deletion creates another pod.
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
                    let seconds = TIMEOUT.as_secs();
                    return Err(ClusterError::PodsRemain { pods: left.join(", "), seconds });
                }
                sleep(CLUSTER_INTERVAL);
            }
        }
    }
}

fn remove_kind(
    cluster: &Cluster,
    namespace: &str,
    kind: &ApiResource,
    selector: &str,
) -> Result<(), ClusterError> {
    let outcome = cluster.attempt(|client| {
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, kind);
        // The garbage collector would give a controller's pods their own, longer grace period, which cannot be shortened afterwards.
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
        // What cannot be removed by its label is removed with the namespace.
        _ => Ok(()),
    }
}

/// Names of the pods that remain, terminating or not.
fn pods(cluster: &Cluster, namespace: &str, selector: &str) -> Result<Vec<String>, ClusterError> {
    let left = cluster.call("list the pods", |client| {
        let api: Api<Pod> = Api::namespaced(client, namespace);
        let which = ListParams::default().labels(selector);
        async move { api.list_metadata(&which).await }
    })?;
    Ok(left.items.into_iter().filter_map(|pod| pod.metadata.name).collect())
}
