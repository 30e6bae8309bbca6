//! A cluster as one run uses it: one connection for all deployments, the run's namespace, and what the run has in it once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use loadline_machine::{Environment, RunName};
use loadline_model::platform::Kubernetes;

use crate::{
    cleaner::KubernetesSection, connection::Cluster, ended::Member, error::ClusterError,
    kubeconfig::ClusterMark, labels, namespace, rights, rights::Right,
};

/// The clusters that a run has connected to.
#[derive(Default)]
pub(crate) struct Clusters(Mutex<Vec<Arc<RunCluster>>>);

pub(crate) struct RunCluster {
    pub cluster: Cluster,
    pub run: RunName,
    /// The load's Job and the observers' DaemonSet, once they are made.
    pub agents: Agents,
    namespace_made: Mutex<bool>,
}

/// The agents of a run in one cluster, made when they are first needed. They go with the run's namespace.
#[derive(Default)]
pub(crate) struct Agents {
    pub load: Mutex<Option<Member>>,
    /// By the name of the node.
    pub observers: Mutex<BTreeMap<String, Member>>,
}

impl Clusters {
    /// The cluster that the options mean, connected to if need be.
    pub fn get(
        &self,
        environment: &Environment,
        options: &Kubernetes,
    ) -> Result<Arc<RunCluster>, ClusterError> {
        let mark = ClusterMark::find(options)?;
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
    /// Checks that this user has the rights, then makes the run's namespace if it isn't there yet. It is registered first.
    pub fn enter(&self, environment: &Environment, rights: &[Right]) -> Result<(), ClusterError> {
        rights::check(&self.cluster, &self.namespace(), rights)?;
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
