//! The path from the client to the service, built layer by layer on a node: where the service runs, what the node does to packets, and
//! where the client connects.

use std::{net::SocketAddrV4, sync::Arc};

use loadline_machine::{Netns, Node, RunFolder};
use loadline_platform::Service;

use crate::{
    error::LocalError,
    layers::{self, ExposedPort, Layer, Layers, cni, pod, sidecar, userland_proxy},
};

/// Where a service in a namespace of its own listens, if it has no port of its own.
const POD_PORT: u16 = 8080;

/// A path that has been built. What is in namespaces of its own lives as long as this value.
pub(crate) struct Path {
    /// Where the client connects, unless a proxy of the path is in front of it.
    pub address: SocketAddrV4,
    /// Where the service listens.
    pub listen: SocketAddrV4,
    /// The network namespace of the service's process; `None` is the one it is started from, the run's node.
    pub netns: Option<Netns>,
    /// The deployment's own nodes, in order from the client.
    pub nodes: Vec<Netns>,
    /// What plugins allocated for the pod.
    pub network: Option<cni::Network>,
    /// BPF programs attached to its links, removed with this value.
    _programs: Vec<loadline_bpf::Attached>,
}

/// Builds the layers, except those of the process itself. If one fails, what was created before it carries the owner's name, or is in a
/// namespace of its own.
/// What outlives namespaces is registered in `folder` before it is created.
pub(crate) fn build(
    node: &Node,
    layers: &Layers,
    service: &Service,
    folder: &Arc<RunFolder>,
) -> Result<Path, LocalError> {
    check_programs(layers)?;
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
        None => service.listen_on(node)?,
    };
    // The destination of clients: the service, or the proxy in front of it.
    let inside = if layers.sidecar.is_some() { sidecar::inbound(listen) } else { listen };
    if layers.conntrack {
        layers::conntrack::install(node)?;
    }
    if let Some(count) = layers.rules {
        layers::rules::install(node, inside, pod.is_none(), count)?;
    }
    if let (Some(loops), Some(pod)) = (layers.spin, &pod) {
        programs.push(layers::ebpf::spin(node, &pod.link, loops)?);
    }
    let mut address = inside;
    if let (Some(layer), Some(pod)) = (&layers.entrance, &pod) {
        let port = node.ports.node_port(&node.netns, &node.owner)?;
        let exposed = ExposedPort {
            node,
            at: SocketAddrV4::new(node.address, port),
            pod: inside,
            pods: pod.subnet,
            link: &pod.link,
        };
        match layer {
            Layer::NodePort { backend, services } => {
                layers::nodeport::install(&exposed, *backend, *services)?
            }
            _ => layers::published::install(&exposed)?,
        }
        address = exposed.at;
    }
    let netns = pod.map(|pod| pod.netns).or_else(|| nodes.first().cloned());
    Ok(Path { address, listen, netns, nodes, network, _programs: programs })
}

/// Whether the programs that the layers need are installed.
fn check_programs(layers: &Layers) -> Result<(), LocalError> {
    if layers.userland_proxy {
        userland_proxy::find()?;
    }
    layers.sidecar.map_or(Ok(()), |wanted| sidecar::find(wanted).map(drop))
}
