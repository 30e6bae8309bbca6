//! The service as a process of this machine behind chosen layers: the path that a container platform builds, layer
//! by layer and without the platform.

use std::net::SocketAddr;

use loadline_machine::{Cgroup, Cleaner, Cleanup, Environment, Netns, Node, Place, Resources, Running};
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

/// Who removes what processes, links, rules and cgroups leave out.
pub const CLEANERS: &[&dyn Cleaner] = &[&CniCleaner];

/// The platform `local`: `host` plus layers, in any order.
#[derive(Clone, Debug)]
pub struct Local {
    /// The layers; see [`Layer`] for which needs which.
    pub layers: Vec<Layer>,
    /// Whether it gets a node of its own: a network namespace with a wire of its own to the client, so that what it sets up there
    /// concerns nothing else of the run.
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
    made: Cleanup<Made>,
    path: Path,
    cgroup: Option<Cgroup>,
    left_out: Vec<String>,
}

/// What has to be ended before what carries the deployment's name can be removed.
#[derive(Default)]
struct Made {
    process: Option<Running>,
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
        // What was begun of it vanishes with its namespace.
        Node::make(environment.client(), &slot).inspect_err(|_| slot.release())?
    } else {
        Node::shared_by(environment, &owner, slot.subnet())
    };
    let mut made = Cleanup::new(slot, environment.folder(), node.scope(), CLEANERS, Made::default());

    let limits = if layers.quota { layers::cgroup::with_quota(service)? } else { service.limits };
    let (cgroup, left_out) = if layers.cgroup || limits.any() {
        let created = environment.make_cgroup(&owner, &service.cpus, &limits)?;
        (created.cgroup, created.left_out)
    } else {
        (None, Vec::new())
    };
    let mut path = path::lay(&node, &layers, service, environment.folder())?;
    made.network = path.network.take();
    let place = Place { owner, netns: path.netns.as_ref(), cgroup: cgroup.as_ref(), cpus: &service.cpus };
    made.process = Some(Running::start(environment, program::of(service, path.listen)?, &place)?);
    path.address = made.proxies.start(environment, &node, &layers, &place, &path)?;
    Ok(Box::new(LocalDeployment { made, path, cgroup, left_out }))
}

impl Resources for Made {
    type Error = LocalError;

    fn end(&mut self) -> Result<(), LocalError> {
        let stopped = self.proxies.stop().and(self.process.take().map_or(Ok(()), Running::stop));
        let given_back = self.network.take().map_or(Ok(()), cni::Network::give_back);
        stopped?;
        given_back
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
        let service = self.made.process.iter().map(Running::pid);
        Subject::Here {
            root_pids: service.chain(self.made.proxies.pids()).collect(),
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
        let service = self.made.process.as_ref().and_then(Running::exited).map(|status| ("service", status));
        let (what, status) = service.or_else(|| self.made.proxies.ended())?;
        Some(format!("the {what} ended by itself ({status})"))
    }

    fn output_tail(&self) -> String {
        self.made.process.as_ref().map(Running::output_tail).unwrap_or_default()
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlatformError> {
        Ok(self.made.remove()?)
    }
}
