//! The platform `kubernetes`: what it can do, and its part of the interface.

use std::path::PathBuf;

use loadline_machine::Environment;
use loadline_model::platform::{Capabilities, Kubernetes};
use loadline_platform::{Deployment, Platform, PlatformError, Service, Starting, Surroundings};

use crate::{
    deploy,
    error::ClusterError,
    facts::{self, ClusterFacts},
    run_cluster::Clusters,
    surroundings,
};

/// The platform `kubernetes`.
#[derive(Clone, Debug, Default)]
pub struct KubernetesPlatform {
    /// Its options.
    pub options: Kubernetes,
    /// The program that clusters run as `loadline agent`, from an image that holds nothing else. `None` is the one that is running.
    pub program: Option<PathBuf>,
}

impl Platform for KubernetesPlatform {
    fn capabilities(&self) -> Capabilities {
        self.options.capabilities()
    }

    /// Returns once all pods are ready, which without probes says no more than that they have started.
    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError> {
        self.start(environment, service, progress)?.wait(progress)
    }

    fn start<'g>(
        &self,
        environment: &'g Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Starting<'g>, PlatformError> {
        Ok(deploy::start(&self.options, self.program.as_deref(), environment, service, progress)?)
    }

    fn surroundings(&self, environment: &Environment) -> Result<Option<Surroundings>, PlatformError> {
        Ok(Some(surroundings::describe(&self.facts(environment)?)))
    }
}

impl KubernetesPlatform {
    /// What the cluster is: versions, network, rules. What can't be known is `None`.
    ///
    /// # Errors
    /// When the cluster can't be reached or its nodes can't be listed.
    pub fn facts(&self, environment: &Environment) -> Result<ClusterFacts, ClusterError> {
        let cluster = environment.shared::<Clusters>().get(environment, &self.options)?;
        facts::ask(&cluster.cluster, environment)
    }
}
