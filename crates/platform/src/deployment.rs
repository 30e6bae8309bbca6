//! One start of a service on a platform, with all that a run has to ask.

use std::net::SocketAddr;

use loadline_machine::Netns;

use crate::{agent::Agent, error::PlatformError, startup::Startup, subject::Subject};

/// One start of a service on a platform. Dropping it stops the service and removes what was made for it.
pub trait Deployment: Send {
    /// Where the client connects.
    fn address(&self) -> SocketAddr;

    /// Value of the `Host` header, where it isn't the address.
    fn authority(&self) -> Option<&str> {
        None
    }

    /// From where the client connects.
    fn vantage(&self) -> Vantage;

    /// Where its counters are.
    fn subject(&self) -> Subject;

    /// The network namespaces of the nodes that are its own, from the client on; none where it shares its node.
    fn nodes(&self) -> &[Netns] {
        &[]
    }

    /// What could not be had here and how to get it, a sentence each.
    fn left_out(&self) -> &[String];

    /// Why the service is no more, once it isn't: `it ended by itself (exit status: 1)`. Asked between slices, so it must
    /// not take long.
    fn ended(&mut self) -> Option<String>;

    /// The last 64 KiB that the service wrote to its standard output and error.
    fn output_tail(&self) -> String;

    /// How the start went; asked once the service is ready.
    fn startup(&mut self) -> Startup {
        Startup::default()
    }

    /// Ends the service (SIGTERM, after two seconds SIGKILL, to all its processes) and removes what was made for it.
    ///
    /// # Errors
    /// When something withstands, after everything was tried.
    fn stop(self: Box<Self>) -> Result<(), PlatformError>;
}

/// Where the client of a deployment has to be.
#[derive(Clone, Debug)]
pub enum Vantage {
    /// In [`loadline_machine::Environment::client`], behind the wire.
    Client,
    /// In the node's own network namespace: the service is nowhere near the wire.
    Node,
    /// Where an [`Agent`] is: this machine can't reach the service.
    Agent(Agent),
}
