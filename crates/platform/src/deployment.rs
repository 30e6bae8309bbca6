//! What every platform offers: starting a service, and one start of it with all that a run has to ask.

use std::{
    fmt,
    net::SocketAddr,
    os::unix::net::UnixStream,
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{Cgroup, Error, Ground, Netns, Service};

/// A place where services run.
pub trait Platform: Send + Sync {
    /// Starts the service. It has been started when this returns; whether it is ready is for the caller to ask it.
    /// `progress` is told, in half a sentence, what takes long: pulling an image, waiting for a node.
    ///
    /// # Errors
    /// Whatever was made by then has been removed.
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error>;

    /// The first half of [`Platform::deploy`]: asks for the service, and leaves the waiting for later, so that several that
    /// wait for nothing but time can do so together.
    ///
    /// # Errors
    /// As those of `deploy`.
    fn start<'g>(
        &self,
        ground: &'g Ground,
        service: &Service,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Starting<'g>, Error> {
        let deployment = self.deploy(ground, service, progress)?;
        Ok(Starting::started(deployment))
    }

    /// What kind of daemon or cluster it is, if it is one; read once a run.
    ///
    /// # Errors
    /// When it can't be asked.
    fn surroundings(&self, ground: &Ground) -> Result<Option<Surroundings>, Error> {
        let _ = ground;
        Ok(None)
    }
}

/// A service that was asked for. Dropping it removes what was made for it.
pub struct Starting<'g>(Box<Wait<'g>>);

type Wait<'g> = dyn FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, Error> + 'g;

impl<'g> Starting<'g> {
    pub(crate) fn new(
        wait: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, Error> + 'g,
    ) -> Starting<'g> {
        Starting(Box::new(wait))
    }

    /// One that there is no waiting for.
    pub fn started(deployment: Box<dyn Deployment>) -> Starting<'g> {
        Starting::new(|_| Ok(deployment))
    }

    /// The second half of [`Platform::deploy`]: returns once the service has been started.
    ///
    /// # Errors
    /// Whatever was made by then has been removed.
    pub fn wait(self, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn Deployment>, Error> {
        (self.0)(progress)
    }
}

/// What a platform's daemon or cluster is, to be kept with the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Surroundings {
    /// In one line, for people.
    pub summary: String,
    /// All that is known of it, in the platform's own shape.
    pub facts: serde_json::Value,
}

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

    /// The service's first process, if it is on this machine.
    fn root_pid(&self) -> Option<u32>;

    /// The first processes of the proxies in its requests' path, if they are on this machine. What they use is the deployment's cost.
    fn proxy_pids(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The service's own cgroup, if it has one on this machine; its proxies are in it too.
    fn cgroup(&self) -> Option<&Cgroup>;

    /// The network namespaces of the nodes that are its own, from the client on; none where it shares its node.
    fn nodes(&self) -> &[Netns] {
        &[]
    }

    /// Where its counters are read, if it isn't on this machine.
    fn observer(&self) -> Option<Observer> {
        None
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
    fn stop(self: Box<Self>) -> Result<(), Error>;
}

/// Where the client of a deployment has to be.
#[derive(Clone, Debug)]
pub enum Vantage {
    /// In [`Ground::client`], behind the wire.
    Client,
    /// In the node's own network namespace: the service is nowhere near the wire.
    Node,
    /// Where an [`Agent`] is: this machine can't reach the service.
    Agent(Agent),
}

/// A way to `loadline agent` inside a cluster; every connection is a conversation of its own.
#[derive(Clone)]
pub struct Agent(Arc<dyn Fn() -> Result<UnixStream, Error> + Send + Sync>);

/// Who reads the counters of a service elsewhere.
#[derive(Clone, Debug)]
pub enum Observer {
    /// An agent on the service's node, which finds the service by its container's id.
    Agent(Agent, String),
    /// The kubelet of the service's node, asked through the API server.
    Kubelet(KubeletReader),
    /// Nobody may.
    Nobody,
}

/// Reads what the kubelet says of a service; `None` is what can't be read now.
#[derive(Clone)]
pub struct KubeletReader(Arc<dyn Fn() -> Option<KubeletReading> + Send + Sync>);

/// What a kubelet said of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeletReading {
    /// When it was so, by the node's clock. The kubelet may answer twice with the same figures.
    pub at: SystemTime,
    /// CPU time of the pod's containers since they began.
    pub cpu_ns: u64,
    /// Memory that the containers work with: charged, less page cache that could go.
    pub memory_bytes: Option<u64>,
}

/// How a start went, as far as its platform can tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Startup {
    /// What happened when, in order. That it answered is added by whoever asked it.
    pub phases: Vec<Phase>,
    /// Size of the image in the store of the platform, in bytes.
    pub image_bytes: Option<u64>,
}

/// One step of a start.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What was reached: `created`, `started`, `scheduled`, …
    pub name: &'static str,
    /// Since the start was asked for.
    pub after: Duration,
}

impl Agent {
    /// `connect` opens one more connection.
    pub(crate) fn new(connect: impl Fn() -> Result<UnixStream, Error> + Send + Sync + 'static) -> Agent {
        Agent(Arc::new(connect))
    }

    /// One more conversation with the agent.
    pub fn connect(&self) -> Result<UnixStream, Error> {
        (self.0)()
    }
}

impl KubeletReader {
    pub(crate) fn new(read: impl Fn() -> Option<KubeletReading> + Send + Sync + 'static) -> KubeletReader {
        KubeletReader(Arc::new(read))
    }

    /// The figures of now, or of a moment ago.
    pub fn read(&self) -> Option<KubeletReading> {
        (self.0)()
    }
}

impl fmt::Debug for KubeletReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KubeletReader")
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agent")
    }
}
