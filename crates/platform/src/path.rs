//! The path from the client to the service, laid layer by layer on a node: where the service belongs, what the node does to packets, and
//! by which door the client comes in.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    net::{Ipv4Addr, SocketAddrV4},
    sync::Arc,
};

use crate::{
    Error, Layer, Netns, Service,
    layers::{self, Layers, Way, cni, pod, proxies, sidecar},
    node::Node,
    owner::Owner,
    ports,
    registry::RunFolder,
};

/// Where a service in a namespace of its own listens, if it has no port of its own.
const POD_PORT: u16 = 8080;

/// A path that has been laid. What is in namespaces of its own lasts as long as this does.
pub(crate) struct Path {
    /// Where the client connects, if no process of the path stands before it.
    pub address: SocketAddrV4,
    /// Where the service listens.
    pub listen: SocketAddrV4,
    /// Where the service's process goes; `None` is where it is started from, which is the run's node.
    pub netns: Option<Netns>,
    /// The nodes that are the deployment's own, from the client on.
    pub nodes: Vec<Netns>,
    /// What plugins took for the pod.
    pub network: Option<cni::Network>,
    /// BPF programs at its links, which go with this.
    _programs: Vec<loadline_bpf::Attached>,
}

/// Lays the layers, all but those of the process itself. What was made when one fails carries the owner's name, or is in a namespace
/// of its own.
///
/// What outlives namespaces is registered in `folder` before it is made.
pub(crate) fn lay(
    node: &Node,
    layers: &Layers,
    service: &Service,
    folder: &Arc<RunFolder>,
) -> Result<Path, Error> {
    proxies::check(layers)?;
    let mut nodes: Vec<Netns> = node.own.iter().map(|_| node.netns.clone()).collect();
    let mut programs = Vec::new();
    let (pod, network) = match pod::attach(node, layers, folder)? {
        Some(attached) => {
            nodes.extend(attached.other);
            programs.extend(attached.programs);
            (Some(attached.pod), attached.network)
        }
        None => (None, None),
    };
    let listen = match &pod {
        Some(pod) => SocketAddrV4::new(pod.address, service.port.unwrap_or(POD_PORT)),
        None => listen_on_node(node, service)?,
    };
    // What a client is led to: the service, or the proxy before it.
    let inside = if layers.sidecar.is_some() { sidecar::inbound(listen) } else { listen };
    if layers.conntrack {
        layers::conntrack::lay(node)?;
    }
    if let Some(count) = layers.rules {
        layers::rules::lay(node, inside, pod.is_none(), count)?;
    }
    if let (Some(loops), Some(pod)) = (layers.spin, &pod) {
        programs.push(layers::ebpf::spin(node, &pod.link, loops)?);
    }
    let mut address = inside;
    if let (Some(entrance), Some(pod)) = (&layers.entrance, &pod) {
        let port = node.ports.node_port(&node.netns, entrance_start(&node.owner))?;
        let way = Way {
            node,
            at: SocketAddrV4::new(node.address, port),
            pod: inside,
            pods: pod.subnet,
            link: &pod.link,
        };
        match entrance {
            Layer::NodePort { backend, services } => layers::nodeport::lay(&way, *backend, *services)?,
            _ => layers::published::lay(&way)?,
        }
        address = way.at;
    }
    let netns = pod.map(|pod| pod.netns).or_else(|| nodes.first().cloned());
    Ok(Path { address, listen, netns, nodes, network, _programs: programs })
}

/// Node address and port for a service in the node's own namespace.
pub(crate) fn listen_on_node(node: &Node, service: &Service) -> Result<SocketAddrV4, Error> {
    let host = node.address;
    let Some(port) = service.port else {
        return Ok(SocketAddrV4::new(host, node.ports.listening_port(&node.netns, host)?));
    };
    // A service that isn't told its address listens on all of them, and then any listener is in its way.
    let wanted = if service.takes_host() { host } else { Ipv4Addr::UNSPECIFIED };
    ports::check_free(&node.netns, wanted, port)?;
    Ok(SocketAddrV4::new(host, port))
}

/// Where in the node-port range to look first: elsewhere for each run and deployment.
pub(crate) fn entrance_start(owner: &Owner) -> u32 {
    let mut hasher = DefaultHasher::new();
    (owner.run, owner.slot).hash(&mut hasher);
    hasher.finish() as u32 >> 1
}
