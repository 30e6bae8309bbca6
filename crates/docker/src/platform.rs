//! The platform `docker`: its capabilities and its implementation of the interface.

use loadline_machine::Environment;
use loadline_model::platform::{Capabilities, Docker};
use loadline_platform::{Deployment, Platform, PlatformError, PlatformInfo, Service};

use crate::{client::Client, deployment, info};

/// The platform `docker`.
#[derive(Clone, Debug, Default)]
pub struct DockerPlatform {
    /// Its options.
    pub options: Docker,
    /// Where the API of the daemon is, `unix:///PATH` or `tcp://HOST:PORT`. Otherwise DOCKER_HOST, or one of the default sockets
    /// of Docker and Podman. The daemon must be in the node's network namespace.
    pub endpoint: Option<String>,
}

impl Platform for DockerPlatform {
    fn capabilities(&self) -> Capabilities {
        self.options.capabilities()
    }

    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError> {
        let endpoint = self.endpoint.as_deref();
        Ok(deployment::deploy(&self.options, endpoint, environment, service, progress)?)
    }

    fn reach(&self, environment: &Environment) -> Result<(), PlatformError> {
        Client::connect(self.endpoint.as_deref(), environment.node())?;
        Ok(())
    }

    fn info(&self, environment: &Environment) -> Result<Option<PlatformInfo>, PlatformError> {
        Ok(Some(info::read(self.endpoint.as_deref(), environment)?))
    }
}
