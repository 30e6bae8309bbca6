//! The service in a container of the Docker Engine, or of Podman through the same API.
//! Its limits, labels and removal are those of every other deployment; how it is joined to the client is chosen.

mod archive;
mod client;
mod deployment;
mod endpoint;
mod error;
mod image;
mod macvlan;
mod network;
mod remove;
mod request;
mod surroundings;
mod transfer;
mod userland_proxy;
mod watch;

use loadline_model::platform::{Docker, DockerNetwork, Mount, Publish};

pub use error::DockerError;
pub(crate) use remove::remove;

use crate::{Deployment, Error, Environment, Platform, Service, Surroundings};

impl Platform for Docker {
    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        deployment::deploy(self, environment, service, progress)
    }

    fn surroundings(&self, environment: &Environment) -> Result<Option<Surroundings>, Error> {
        surroundings::read(environment).map(Some)
    }
}
