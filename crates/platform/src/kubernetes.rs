//! The service as a pod of a Kubernetes cluster, behind a Service of the asked-for kind.
//!
//! All that a run makes in a cluster is in a namespace of its own, `loadline-RUN`, and carries the run's label; a deployment's objects
//! are removed by label at its end, the namespace at the run's end and by [`crate::clean()`].

mod agents;
mod apply;
mod connection;
mod deploy;
mod ended;
mod entrance;
mod error;
mod facts;
mod failure;
mod image;
mod kubeconfig;
mod kubelet;
mod labels;
mod logs;
mod manifests;
mod moments;
mod namespace;
mod nodes;
mod obstacle;
mod pin;
mod pod_deployment;
mod pod_spec;
mod reach;
mod removal;
mod request;
mod rights;
mod run_cluster;
mod static_pod;
mod surroundings;
mod wait;

use loadline_model::platform::{Expose, Kubernetes, LoadFrom, Manifests, Observers, PodPlacement, Probes};

use crate::{Deployment, Error, Ground, Platform, Service, Starting, Surroundings};

pub use error::ClusterError;
pub use facts::{ClusterFacts, Cni, NodeFacts};
pub(crate) use kubeconfig::ClusterMark;
pub(crate) use removal::remove_run;
pub(crate) use run_cluster::Clusters;
pub(crate) use static_pod::remove as remove_static_pods;

impl Platform for Kubernetes {
    /// Returns once all pods are ready, which without probes says no more than that they have started.
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        self.start(ground, service, progress)?.wait(progress)
    }

    fn start<'g>(
        &self,
        ground: &'g Ground,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Starting<'g>, Error> {
        deploy::start(self, ground, service, progress)
    }

    fn surroundings(&self, ground: &Ground) -> Result<Option<Surroundings>, Error> {
        Ok(Some(surroundings::describe(&cluster_facts(self, ground)?)))
    }
}

/// What the cluster is: versions, network, rules. What can't be known is `None`.
///
/// # Errors
/// When the cluster can't be reached or its nodes can't be listed.
pub fn cluster_facts(kubernetes: &Kubernetes, ground: &Ground) -> Result<ClusterFacts, Error> {
    let cluster = ground.clusters().get(ground, kubernetes)?;
    facts::ask(&cluster.cluster, ground)
}
