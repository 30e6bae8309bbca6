//! The service as a process of this machine behind chosen layers: the path that a container platform builds, layer
//! by layer and without the platform.

use std::{net::SocketAddr, sync::Arc};

use crate::{
    Cgroup, Deployment, Error, Ground, Layer, Netns, Platform, Service, Vantage,
    clean::{self, Traces},
    layers::{self, Beside, Layers, cni, proxies::Proxies},
    node::Node,
    path::{self, Path},
    process::{Place, Running},
    registry::RunFolder,
    slots::Slot,
};

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
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        deploy(ground, service, &self.layers, self.own_node)
    }
}

/// A service process with its layers.
struct LocalDeployment {
    made: Made,
    path: Path,
    cgroup: Option<Cgroup>,
    left_out: Vec<String>,
}

/// What has to be removed in the end, or once something fails on the way. Dropping it does that.
struct Made {
    slot: Slot,
    node: Node,
    folder: Arc<RunFolder>,
    process: Option<Running>,
    proxies: Proxies,
    network: Option<cni::Network>,
    removed: bool,
}

pub(crate) fn deploy(
    ground: &Ground,
    service: &Service,
    layers: &[Layer],
    own_node: bool,
) -> Result<Box<dyn Deployment>, Error> {
    let layers = Layers::check(layers, own_node)?;
    let slot = ground.next_slot()?;
    let owner = slot.owner;
    let node = if own_node {
        // What was begun of it vanishes with its namespace.
        Node::make(ground.client(), &slot).inspect_err(|_| slot.release())?
    } else {
        Node::shared_by(ground, &owner, slot.subnet())
    };
    let mut made = Made {
        slot,
        node,
        folder: Arc::clone(ground.folder()),
        process: None,
        proxies: Proxies::default(),
        network: None,
        removed: false,
    };

    let limits = if layers.quota { layers::cgroup::with_quota(service)? } else { service.limits };
    let (cgroup, left_out) = if layers.cgroup || limits.any() {
        let wanted = layers::cgroup::lay(ground, &owner, &service.cpus, &limits)?;
        (wanted.cgroup, wanted.left_out)
    } else {
        (None, Vec::new())
    };
    let mut path = path::lay(&made.node, &layers, service, &made.folder)?;
    made.network = path.network.take();
    let place = Place { owner, netns: path.netns.as_ref(), cgroup: cgroup.as_ref(), listen: path.listen };
    made.process = Some(Running::start(ground, service, &place)?);
    let beside = Beside { owner, cpus: &service.cpus, cgroup: cgroup.as_ref() };
    path.address = made.proxies.start(ground, &made.node, &layers, &beside, &path)?;
    Ok(Box::new(LocalDeployment { made, path, cgroup, left_out }))
}

impl Made {
    fn remove(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let stopped = self.proxies.stop().and(self.process.take().map_or(Ok(()), Running::stop));
        let given_back = self.network.take().map_or(Ok(()), cni::Network::give_back);
        let traces = match &self.node.own {
            Some(own) => Traces::InClient(&own.client),
            None => Traces::OnNode(&self.node.netns),
        };
        let state = self.folder.state();
        let removed = clean::remove_owned(&self.slot.owner, &state, &traces, &mut Vec::new());
        stopped.and(given_back).and(removed)?;
        self.slot.release();
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!("{} was not removed wholly: {error}", self.slot.owner);
        }
    }
}

impl Deployment for LocalDeployment {
    fn address(&self) -> SocketAddr {
        self.path.address.into()
    }

    fn vantage(&self) -> Vantage {
        Vantage::Client
    }

    fn root_pid(&self) -> Option<u32> {
        self.made.process.as_ref().map(Running::pid)
    }

    fn proxy_pids(&self) -> Vec<u32> {
        self.made.proxies.pids()
    }

    fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
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

    fn stop(mut self: Box<Self>) -> Result<(), Error> {
        self.made.remove()
    }
}
