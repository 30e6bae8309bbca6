//! The layers that `local` puts between client and service, by name.

mod br_netfilter;
mod bridge;
pub(crate) mod cgroup;
pub(crate) mod cni;
pub(crate) mod conntrack;
pub(crate) mod ebpf;
mod ipvlan;
mod macvlan;
mod netkit;
pub(crate) mod nodeport;
mod other_node;
pub(crate) mod pod;
pub(crate) mod published;
pub(crate) mod rules;
pub(crate) mod sidecar;
pub(crate) mod unavailable;
pub(crate) mod userland_proxy;
pub(crate) mod veth;

use std::net::SocketAddrV4;

use loadline_machine::{Node, addresses::Subnet};

pub(crate) use loadline_model::platform::{
    Attachment, Backend, IpvlanMode, Layer, Layers, Overlay, Proxy, Sidecar, Sides,
};

/// A port of the node that leads to a pod.
pub(crate) struct ExposedPort<'a> {
    pub node: &'a Node,
    /// Where the client connects.
    pub at: SocketAddrV4,
    /// Where the service listens.
    pub pod: SocketAddrV4,
    /// The pod's subnet.
    pub pods: Subnet,
    /// The node's link towards the pod.
    pub link: &'a str,
}
