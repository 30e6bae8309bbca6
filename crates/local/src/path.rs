//! The path from the client to the service, laid layer by layer on a node: where the service belongs, what the node does to packets, and
//! by which door the client comes in.

use std::{net::SocketAddrV4, sync::Arc};

use loadline_machine::{Netns, Node, RunFolder};
use loadline_platform::Service;

use crate::{
    error::LocalError,
    layers::{self, Entrance, Layer, Layers, cni, pod, sidecar, userland_proxy},
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
    if let (Some(layer), Some(pod)) = (&layers.entrance, &pod) {
        let port = node.ports.node_port(&node.netns, &node.owner)?;
        let entrance = Entrance {
            node,
            at: SocketAddrV4::new(node.address, port),
            pod: inside,
            pods: pod.subnet,
            link: &pod.link,
        };
        match layer {
            Layer::NodePort { backend, services } => layers::nodeport::lay(&entrance, *backend, *services)?,
            _ => layers::published::lay(&entrance)?,
        }
        address = entrance.at;
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
