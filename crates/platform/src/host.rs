//! The service as a plain process of the node: the baseline of most comparisons.

use crate::{Deployment, Error, Ground, Platform, Service, local};

/// The platform `host`: no layer at all, except that limits, if there are any, need a cgroup.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Platform for Host {
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        local::deploy(ground, service, &[], false)
    }
}
