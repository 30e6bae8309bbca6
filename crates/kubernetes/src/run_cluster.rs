//! A cluster as one run uses it: one connection for all deployments, the run's namespace, and the run's agents in it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use loadline_machine::{Environment, RunName};
use loadline_model::platform::Kubernetes;

use crate::{
    cleaner::KubernetesSection,
    connection::Cluster,
    error::ClusterError,
    kubeconfig::ClusterRecord,
    labels, namespace,
    permissions::{self, Permission},
    termination::DeployedPod,
};

/// The clusters that a run has connected to.
#[derive(Default)]
pub(crate) struct Clusters(Mutex<Vec<Arc<RunCluster>>>);

pub(crate) struct RunCluster {
    pub cluster: Cluster,
    pub run: RunName,
    /// The load's Job and the observers' DaemonSet, once they are created.
    pub agents: Agents,
    namespace_made: Mutex<bool>,
}

/// The agents of a run in one cluster, created when first needed and removed with the run's namespace.
#[derive(Default)]
pub(crate) struct Agents {
    pub load: Mutex<Option<DeployedPod>>,
    /// By the name of the node.
    pub observers: Mutex<BTreeMap<String, DeployedPod>>,
}

impl Clusters {
    /// The cluster of the options, connected if necessary.
    pub fn get(
        &self,
        environment: &Environment,
        options: &Kubernetes,
    ) -> Result<Arc<RunCluster>, ClusterError> {
        let mark = ClusterRecord::find(options)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|known| *known.cluster.mark() == mark) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(RunCluster {
            cluster: Cluster::connect(mark, environment.node())?,
            run: environment.run(),
            agents: Agents::default(),
            namespace_made: Mutex::new(false),
        });
        known.push(Arc::clone(&made));
        Ok(made)
    }
}

impl RunCluster {
    /// Checks that this user has the permissions, then creates the run's namespace unless it exists. It is registered first.
    pub fn enter(&self, environment: &Environment, permissions: &[Permission]) -> Result<(), ClusterError> {
        permissions::check(&self.cluster, &self.namespace(), permissions)?;
        let mut made = self.namespace_made.lock().unwrap_or_else(PoisonError::into_inner);
        if !*made {
            let mark = self.cluster.mark().clone();
            environment.folder().update(|section: &mut KubernetesSection| section.clusters.push(mark))?;
            namespace::ensure(&self.cluster, self.run)?;
            *made = true;
        }
        Ok(())
    }

    /// The run's namespace.
    pub fn namespace(&self) -> String {
        labels::namespace(self.run)
    }
}
