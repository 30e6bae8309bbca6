//! A service that is already running elsewhere: loadline only knows its address.

use std::net::SocketAddr;

use loadline_machine::Environment;
use loadline_model::platform::Capabilities;
use loadline_platform::{Deployment, Platform, PlatformError, Service, Subject, Vantage};

/// The platform `external`. Nothing is started; the service's command and image are ignored.
#[derive(Clone, Debug)]
pub struct External {
    /// Where the service listens, as seen from the node.
    pub address: SocketAddr,
    /// Value of the `Host` header.
    pub authority: String,
}

impl Platform for External {
    fn capabilities(&self) -> Capabilities {
        Capabilities::of_external()
    }

    fn deploy(
        &self,
        _: &Environment,
        _: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError> {
        Ok(Box::new(self.clone()))
    }
}

impl Deployment for External {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn authority(&self) -> Option<&str> {
        Some(&self.authority)
    }

    fn vantage(&self) -> Vantage {
        Vantage::Node
    }

    fn subject(&self) -> Subject {
        Subject::NOTHING
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

    fn stop(self: Box<Self>) -> Result<(), PlatformError> {
        Ok(())
    }
}
