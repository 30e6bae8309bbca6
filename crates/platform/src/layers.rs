//! The layers that `local` puts between client and service, by name.

mod br_netfilter;
mod bridge;
pub(crate) mod cgroup;
pub(crate) mod cni;
pub(crate) mod conntrack;
pub(crate) mod ebpf;
mod ipvlan;
pub(crate) mod lacking;
mod macvlan;
mod netkit;
pub(crate) mod nodeport;
mod other_node;
pub(crate) mod pod;
pub(crate) mod proxies;
pub(crate) mod published;
pub(crate) mod rules;
pub(crate) mod sidecar;
mod userland_proxy;
pub(crate) mod veth;

use std::net::SocketAddrV4;

pub(crate) use loadline_model::platform::{
    Attachment, Backend, IpvlanMode, Layer, Layers, Overlay, Proxy, Sidecar, Sides,
};

use crate::{Cgroup, addresses::Subnet, node::Node, owner::Owner};

/// The deployment that a layer's processes belong to: they run on its CPUs and in its cgroup, so that what they use is its cost.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub owner: Owner,
    pub cpus: &'a [usize],
    pub cgroup: Option<&'a Cgroup>,
}

/// The way from a port of the node to a pod.
pub(crate) struct Way<'a> {
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
