//! The platform `kubernetes`: its capabilities and its implementation of the interface.

use std::path::PathBuf;

use loadline_machine::Environment;
use loadline_model::platform::{Capabilities, Kubernetes};
use loadline_platform::{Deployment, PendingDeployment, Platform, PlatformError, PlatformInfo, Service};

use crate::{
    deploy,
    error::ClusterError,
    facts::{self, ClusterFacts},
    info,
    run_cluster::Clusters,
};

/// The platform `kubernetes`.
#[derive(Clone, Debug, Default)]
pub struct KubernetesPlatform {
    /// Its options.
    pub options: Kubernetes,
    /// The program that clusters run as `loadline agent`, from an image that contains nothing else. `None` is the running program.
    pub program: Option<PathBuf>,
}

impl Platform for KubernetesPlatform {
    fn capabilities(&self) -> Capabilities {
        self.options.capabilities()
    }

    /// Returns once all pods are ready, which without probes means only that they have started.
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
    ) -> Result<PendingDeployment<'g>, PlatformError> {
        Ok(deploy::start(&self.options, self.program.as_deref(), environment, service, progress)?)
    }

    fn reach(&self, environment: &Environment) -> Result<(), PlatformError> {
        let found = environment.shared::<Clusters>().get(environment, &self.options)?;
        found
            .cluster
            .call("read the cluster's version", |client| async move { client.apiserver_version().await })?;
        Ok(())
    }

    fn info(&self, environment: &Environment) -> Result<Option<PlatformInfo>, PlatformError> {
        Ok(Some(info::describe(&self.facts(environment)?)))
    }
}

impl KubernetesPlatform {
    /// Facts about the cluster: versions, network, rules. What cannot be determined is `None`.
    ///
    /// # Errors
    /// When the cluster is unreachable or its nodes cannot be listed.
    pub fn facts(&self, environment: &Environment) -> Result<ClusterFacts, ClusterError> {
        let cluster = environment.shared::<Clusters>().get(environment, &self.options)?;
        facts::ask(&cluster.cluster, environment)
    }
}
