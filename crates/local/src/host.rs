//! The service as a plain process of the node: the baseline of most comparisons.

use loadline_machine::Environment;
use loadline_model::platform::Capabilities;
use loadline_platform::{Deployment, Platform, PlatformError, Service};

use crate::local;

/// The platform `host`: no layers, except that limits, if there are any, need a cgroup.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    /// Whether it has a node of its own, as with [`Local::own_node`](crate::Local::own_node).
    pub own_node: bool,
}

impl Platform for Host {
    fn capabilities(&self) -> Capabilities {
        Capabilities::of_host(self.own_node)
    }

    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError> {
        Ok(local::deploy(environment, service, &[], self.own_node)?)
    }
}
