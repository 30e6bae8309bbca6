//! The pod: a network namespace of the service's own, joined to its node, or to another one behind it, in one of several ways.

use std::{net::Ipv4Addr, sync::Arc};

use loadline_model::platform::LayersError;

use loadline_machine::{Netns, Node, RunFolder, addresses::Subnet};

use super::{
    Attachment, Layer, Layers, br_netfilter, bridge, cni, ebpf, ipvlan, macvlan, netkit, other_node, veth,
};
use crate::error::LocalError;

/// A namespace and how it is reached.
pub(crate) struct Pod {
    pub netns: Netns,
    pub address: Ipv4Addr,
    /// Its subnet, whose addresses node ports don't masquerade.
    pub subnet: Subnet,
    /// The node's link towards it: the bridge, the pair's end, or the one to the other node.
    pub link: String,
}

/// A pod and what it stands on.
pub(crate) struct Attached {
    pub pod: Pod,
    /// The other node's namespace, if it is there.
    pub other: Option<Netns>,
    /// What plugins took for it.
    pub network: Option<cni::Network>,
    /// The BPF programs that hand its packets over.
    pub programs: Option<loadline_bpf::Attached>,
}

impl Attached {
    /// A pod that stands on nothing else.
    fn of(pod: Pod) -> Attached {
        Attached { pod, other: None, network: None, programs: None }
    }
}

/// Makes the pod that the layers ask for, if they do. What outlives its namespace is registered in `folder` first.
pub(crate) fn attach(
    node: &Node,
    layers: &Layers,
    folder: &Arc<RunFolder>,
) -> Result<Option<Attached>, LocalError> {
    let Some(attachment) = &layers.attachment else { return Ok(None) };
    let own = |layer: Layer| node.own.as_ref().ok_or(LocalError::Layers(LayersError::NeedsOwnNode { layer }));
    let pod = match attachment {
        Attachment::Veth => return veths(node, layers).map(Some),
        Attachment::Macvlan => macvlan::lay(node, own(Layer::Macvlan)?)?,
        Attachment::Ipvlan(mode) => ipvlan::lay(node, own(Layer::Ipvlan(*mode))?, *mode)?,
        Attachment::Netkit => netkit::lay(node)?,
        Attachment::Ebpf => {
            own(Layer::Ebpf)?;
            let (pod, programs) = ebpf::lay(node)?;
            return Ok(Some(Attached { programs: Some(programs), ..Attached::of(pod) }));
        }
        Attachment::Cni(file) => {
            let (pod, network) = cni::lay(node, own(Layer::Cni(file.clone()))?, file, folder)?;
            return Ok(Some(Attached { network: Some(network), ..Attached::of(pod) }));
        }
    };
    Ok(Some(Attached::of(pod)))
}

/// A pod with a veth pair, on the node or on another.
fn veths(node: &Node, layers: &Layers) -> Result<Attached, LocalError> {
    let other = layers.other_node.map(|overlay| other_node::lay(node, overlay)).transpose()?;
    let (host, mtu_bytes) = other.as_ref().map_or((node, None), |other| (&other.node, other.mtu_bytes));
    if layers.br_netfilter {
        br_netfilter::check(&host.netns)?;
    }
    let bridge = layers.bridge.then(|| bridge::lay(host, layers.br_netfilter, mtu_bytes)).transpose()?;
    let pod = veth::lay(host, bridge.as_deref(), mtu_bytes)?;
    Ok(match other {
        Some(other) => {
            let pod = Pod { link: other.link, ..pod };
            Attached { other: Some(other.node.netns), ..Attached::of(pod) }
        }
        None => Attached::of(pod),
    })
}
