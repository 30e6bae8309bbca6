//! The service as a process of this machine behind chosen layers: the path that a container platform builds, layer
//! by layer and without the platform.

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    sync::Arc,
};

use crate::{
    Cgroup, Deployment, Error, Ground, Layer, Netns, Platform, Service, Vantage, clean,
    layers::{self, Layers},
    owner::Owner,
    ports,
    process::{Place, Running},
    registry::RunFolder,
};

/// Where a service in a namespace of its own listens, if it has no port of its own.
const POD_PORT: u16 = 8080;

/// The platform `local`: `host` plus layers, in any order.
#[derive(Clone, Debug)]
pub struct Local {
    /// The layers; see [`Layer`] for which needs which.
    pub layers: Vec<Layer>,
}

impl Platform for Local {
    fn deploy(
        &self,
        ground: &Ground,
        service: &Service,
        _: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Deployment>, Error> {
        deploy(ground, service, &self.layers)
    }
}

/// A service process with its layers. Dropping it stops and removes it.
struct LocalDeployment {
    owner: Owner,
    node: Netns,
    folder: Arc<RunFolder>,
    address: SocketAddr,
    cgroup: Option<Cgroup>,
    left_out: Vec<String>,
    process: Option<Running>,
    removed: bool,
}

pub(crate) fn deploy(
    ground: &Ground,
    service: &Service,
    layers: &[Layer],
) -> Result<Box<dyn Deployment>, Error> {
    let layers = Layers::check(layers)?;
    let (owner, subnet) = ground.next_slot()?;
    let pod = SocketAddrV4::new(subnet.far, service.port.unwrap_or(POD_PORT));
    let listen = if layers.veth { pod } else { listen_on_node(ground, service)? };
    // From here on a failure drops this, and with it goes whatever was made by then.
    let mut deployment = LocalDeployment {
        owner,
        node: ground.node().clone(),
        folder: Arc::clone(ground.folder()),
        address: SocketAddr::V4(listen),
        cgroup: None,
        left_out: Vec::new(),
        process: None,
        removed: false,
    };

    if layers.cgroup || service.limits.any() {
        let made = layers::cgroup::lay(ground, &owner, &service.cpus, &service.limits)?;
        (deployment.cgroup, deployment.left_out) = (made.cgroup, made.left_out);
    }
    let mut netns = None;
    if layers.veth {
        let bridge = layers.bridge.then(|| layers::bridge::lay(ground, &owner, &subnet)).transpose()?;
        let laid = layers::veth::lay(ground, &owner, &subnet, bridge.as_deref())?;
        if let Some(entrance) = &layers.entrance {
            let port = ground.ports().node_port(ground.node(), entrance_start(&owner))?;
            let way = layers::Way {
                owner: &owner,
                node: SocketAddrV4::new(ground.node_address(), port),
                pod,
                pods: subnet.network,
                link: bridge.as_deref().unwrap_or(&laid.link),
            };
            match entrance {
                Layer::NodePort { backend, services } => {
                    layers::nodeport::lay(ground, &way, *backend, *services)?;
                }
                _ => layers::published::lay(ground, &way)?,
            }
            deployment.address = SocketAddr::V4(way.node);
        }
        netns = Some(laid.pod);
    }
    let place = Place { owner, netns: netns.as_ref(), cgroup: deployment.cgroup.as_ref(), listen };
    deployment.process = Some(Running::start(ground, service, &place)?);
    Ok(Box::new(deployment))
}

/// Node address and port for a service in the node's own namespace.
pub(crate) fn listen_on_node(ground: &Ground, service: &Service) -> Result<SocketAddrV4, Error> {
    let host = ground.node_address();
    let Some(port) = service.port else {
        return Ok(SocketAddrV4::new(host, ground.ports().listening_port(ground.node(), host)?));
    };
    // A service that isn't told its address listens on all of them, and then any listener is in its way.
    let wanted = if service.takes_host() { host } else { Ipv4Addr::UNSPECIFIED };
    ports::check_free(ground.node(), wanted, port)?;
    Ok(SocketAddrV4::new(host, port))
}

/// Where in the node-port range to look first: elsewhere for each run and deployment.
pub(crate) fn entrance_start(owner: &Owner) -> u32 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (owner.run, owner.slot).hash(&mut hasher);
    hasher.finish() as u32 >> 1
}

impl LocalDeployment {
    fn tear_down(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        let stopped = self.process.take().map_or(Ok(()), Running::stop);
        let state = self.folder.state();
        stopped.and(clean::remove_owned(&self.owner, &state, &self.node, &mut Vec::new()))
    }
}

impl Drop for LocalDeployment {
    fn drop(&mut self) {
        if let Err(error) = self.tear_down() {
            tracing::warn!("{} was not removed wholly: {error}", self.owner);
        }
    }
}

impl Deployment for LocalDeployment {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn vantage(&self) -> Vantage {
        Vantage::Client
    }

    fn root_pid(&self) -> Option<u32> {
        self.process.as_ref().map(Running::pid)
    }

    fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn ended(&mut self) -> Option<String> {
        let status = self.process.as_ref().and_then(Running::exited)?;
        Some(format!("the service ended by itself ({status})"))
    }

    fn output_tail(&self) -> String {
        self.process.as_ref().map(Running::output_tail).unwrap_or_default()
    }

    fn stop(mut self: Box<Self>) -> Result<(), Error> {
        self.tear_down()
    }
}
