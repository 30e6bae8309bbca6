//! One start of a service on a platform, with everything that a run needs from it.

use std::net::SocketAddr;
use std::time::Duration;

use loadline_machine::Netns;

use crate::{agent::Agent, error::PlatformError, startup::Startup, subject::Subject};

/// One start of a service on a platform. Dropping it stops the service and removes what was created for it.
pub trait Deployment: Send {
    /// Where the client connects.
    fn address(&self) -> SocketAddr;

    /// Where other services on its platform connect: a proxy in front of it, or the service that needs it.
    fn peer_address(&self) -> SocketAddr {
        self.address()
    }

    /// Value of the `Host` header, if it is not the address.
    fn authority(&self) -> Option<&str> {
        None
    }

    /// Where the client is.
    fn vantage(&self) -> Vantage;

    /// What to observe.
    fn subject(&self) -> Subject;

    /// The network namespaces of its own nodes, in order from the client; none where it shares its node.
    fn nodes(&self) -> &[Netns] {
        &[]
    }

    /// Stops what the platform does on this machine beside running services, if its options ask for that, or lets it go on. Called around
    /// slices. Returns how long it must go on now before it may be stopped again; `None` if there is nothing to stop.
    ///
    /// # Errors
    /// When it does not stop.
    fn quiesce(&self, stopped: bool) -> Result<Option<Duration>, PlatformError> {
        let _ = stopped;
        Ok(None)
    }

    /// Whether its slices are measured with all that runs on, whatever the other platforms of the run ask for.
    fn leaves_running(&self) -> bool {
        false
    }

    /// What is not available here and how to get it, one sentence each.
    fn left_out(&self) -> &[String];

    /// Why the service has ended, once it has: `the service exited on its own (exit status: 1)`. Called between slices, so it must return
    /// quickly.
    fn ended(&mut self) -> Option<String>;

    /// The last 64 KiB of the service's standard output and error.
    fn output_tail(&self) -> String;

    /// The phases of the start; called once the service is ready.
    fn startup(&mut self) -> Startup {
        Startup::default()
    }

    /// Ends the service (SIGTERM, after two seconds SIGKILL, to all its processes) and removes what was created for it.
    ///
    /// # Errors
    /// When something cannot be removed, after everything was tried.
    fn stop(self: Box<Self>) -> Result<(), PlatformError>;
}

/// Where the client of a deployment must be.
#[derive(Clone, Debug)]
pub enum Vantage {
    /// In [`loadline_machine::Environment::client`], behind the wire.
    Client,
    /// In the node's own network namespace: the service is not reachable by the wire.
    Node,
    /// Where an [`Agent`] is: this machine cannot reach the service.
    Agent(Agent),
}
