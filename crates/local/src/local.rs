//! The service as a process of this machine behind chosen layers: the path that a container platform builds, layer
//! by layer and without the platform.

use std::net::SocketAddr;

use loadline_machine::{
    Cgroup, ChildProcess, Cleaner, Cleanup, Environment, Netns, Node, ProcessPlacement, Resources,
};
use loadline_model::platform::{Capabilities, Layer, Layers};
use loadline_platform::{Deployment, Platform, PlatformError, Service, Subject, Vantage};

use crate::{
    error::LocalError,
    layers::{
        self,
        cni::{self, CniCleaner},
    },
    path::{self, Path},
    program,
    proxies::Proxies,
};

/// The cleaners of everything other than processes, links, rules and cgroups.
pub const CLEANERS: &[&dyn Cleaner] = &[&CniCleaner];

/// The platform `local`: `host` plus layers, in any order.
#[derive(Clone, Debug)]
pub struct Local {
    /// The layers; see [`Layer`] for which needs which.
    pub layers: Vec<Layer>,
    /// Whether it has a node of its own: a network namespace with a wire of its own to the client, so that what is set up there affects
    /// nothing else of the run.
    pub own_node: bool,
}

impl Platform for Local {
    fn capabilities(&self) -> Capabilities {
        Capabilities::of_layers(&self.layers)
    }

    fn deploy(
        &self,
        environment: &Environment,
        service: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, PlatformError> {
        Ok(deploy(environment, service, &self.layers, self.own_node)?)
    }
}

/// A service process with its layers.
struct LocalDeployment {
    resources: Cleanup<LocalResources>,
    path: Path,
    cgroup: Option<Cgroup>,
    left_out: Vec<String>,
}

/// What must end before everything that carries the deployment's name is removed.
#[derive(Default)]
struct LocalResources {
    process: Option<ChildProcess>,
    proxies: Proxies,
    network: Option<cni::Network>,
}

pub(crate) fn deploy(
    environment: &Environment,
    service: &Service,
    layers: &[Layer],
    own_node: bool,
) -> Result<Box<dyn Deployment>, LocalError> {
    let layers = Layers::check(layers, own_node)?;
    let slot = environment.next_slot()?;
    let owner = slot.owner;
    let node = if own_node {
        // What was created of it vanishes with its namespace.
        Node::create(environment.client(), &slot).inspect_err(|_| slot.release())?
    } else {
        Node::shared(environment, &owner, slot.subnet())
    };
    let mut resources =
        Cleanup::new(slot, environment.folder(), node.scope(), CLEANERS, LocalResources::default());

    let limits = if layers.quota { layers::cgroup::with_quota(service)? } else { service.limits };
    let (cgroup, left_out) = if layers.cgroup || limits.any() {
        let created = environment.create_cgroup(&owner, &service.cpus, &limits)?;
        (created.cgroup, created.left_out)
    } else {
        (None, Vec::new())
    };
    let mut path = path::build(&node, &layers, service, environment.folder())?;
    resources.network = path.network.take();
    let place =
        ProcessPlacement { owner, netns: path.netns.as_ref(), cgroup: cgroup.as_ref(), cpus: &service.cpus };
    resources.process = Some(ChildProcess::start(environment, program::of(service, path.listen)?, &place)?);
    path.address = resources.proxies.start(environment, &node, &layers, &place, &path)?;
    Ok(Box::new(LocalDeployment { resources, path, cgroup, left_out }))
}

impl Resources for LocalResources {
    type Error = LocalError;

    fn end(&mut self) -> Result<(), LocalError> {
        let stopped = self.proxies.stop().and(self.process.take().map_or(Ok(()), ChildProcess::stop));
        let released = self.network.take().map_or(Ok(()), cni::Network::release);
        stopped?;
        released
    }
}

impl Deployment for LocalDeployment {
    fn address(&self) -> SocketAddr {
        self.path.address.into()
    }

    fn vantage(&self) -> Vantage {
        Vantage::Client
    }

    fn subject(&self) -> Subject {
        let service = self.resources.process.iter().map(ChildProcess::pid);
        Subject::Here {
            root_pids: service.chain(self.resources.proxies.pids()).collect(),
            cgroup: self.cgroup.clone(),
        }
    }

    fn nodes(&self) -> &[Netns] {
        &self.path.nodes
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn ended(&mut self) -> Option<String> {
        let service =
            self.resources.process.as_ref().and_then(ChildProcess::exited).map(|status| ("service", status));
        let (what, status) = service.or_else(|| self.resources.proxies.ended())?;
        Some(format!("the {what} exited on its own ({status})"))
    }

    fn output_tail(&self) -> String {
        self.resources.process.as_ref().map(ChildProcess::output_tail).unwrap_or_default()
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlatformError> {
        Ok(self.resources.remove()?)
    }
}
