//! A service that somebody else runs: loadline only knows its address.

use std::net::SocketAddr;

use crate::{Cgroup, Deployment, Error, Ground, Platform, Service, Vantage};

/// The platform `external`. Nothing is started; what the service is made of doesn't matter.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// Where the service listens, as seen from the node.
    pub address: SocketAddr,
}

impl Platform for External {
    fn deploy(&self, _: &Ground, _: &Service, _: &mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, Error> {
        Ok(Box::new(*self))
    }
}

impl Deployment for External {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn vantage(&self) -> Vantage {
        Vantage::Node
    }

    fn root_pid(&self) -> Option<u32> {
        None
    }

    fn cgroup(&self) -> Option<&Cgroup> {
        None
    }

    fn left_out(&self) -> &[String] {
        &[]
    }

    fn ended(&mut self) -> Option<String> {
        None
    }

    fn output_tail(&self) -> String {
        String::new()
    }

    fn stop(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}
