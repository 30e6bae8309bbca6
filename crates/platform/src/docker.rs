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

use crate::{Deployment, Error, Ground, Platform, Service, Surroundings};

impl Platform for Docker {
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        deployment::deploy(self, ground, service, progress)
    }

    fn surroundings(&self, ground: &Ground) -> Result<Option<Surroundings>, Error> {
        surroundings::read(ground).map(Some)
    }
}
