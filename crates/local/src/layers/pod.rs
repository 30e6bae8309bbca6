//! The pod: the service's own network namespace, connected to its node, or to another one behind it, in one of several ways.

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
    /// Its subnet, whose addresses node ports do not masquerade.
    pub subnet: Subnet,
    /// The node's link towards it: the bridge, the pair's end, or the one to the other node.
    pub link: String,
}

/// A pod and what it depends on.
pub(crate) struct AttachedPod {
    pub pod: Pod,
    /// The other node's namespace, if it is on another node.
    pub other: Option<Netns>,
    /// What plugins allocated for it.
    pub network: Option<cni::Network>,
    /// The BPF programs that redirect its packets.
    pub programs: Option<loadline_bpf::Attached>,
}

impl AttachedPod {
    /// A pod that depends on nothing else.
    fn of(pod: Pod) -> AttachedPod {
        AttachedPod { pod, other: None, network: None, programs: None }
    }
}

/// Creates the pod that the layers need, if any. What outlives its namespace is registered in `folder` first.
pub(crate) fn attach(
    node: &Node,
    layers: &Layers,
    folder: &Arc<RunFolder>,
) -> Result<Option<AttachedPod>, LocalError> {
    let Some(attachment) = &layers.attachment else { return Ok(None) };
    let own = |layer: Layer| node.own.as_ref().ok_or(LocalError::Layers(LayersError::NeedsOwnNode { layer }));
    let pod = match attachment {
        Attachment::Veth => return attach_veth(node, layers).map(Some),
        Attachment::Macvlan => macvlan::create(node, own(Layer::Macvlan)?)?,
        Attachment::Ipvlan(mode) => ipvlan::create(node, own(Layer::Ipvlan(*mode))?, *mode)?,
        Attachment::Netkit => netkit::create(node)?,
        Attachment::Ebpf => {
            own(Layer::Ebpf)?;
            let (pod, programs) = ebpf::create(node)?;
            return Ok(Some(AttachedPod { programs: Some(programs), ..AttachedPod::of(pod) }));
        }
        Attachment::Cni(file) => {
            let (pod, network) = cni::create(node, own(Layer::Cni(file.clone()))?, file, folder)?;
            return Ok(Some(AttachedPod { network: Some(network), ..AttachedPod::of(pod) }));
        }
    };
    Ok(Some(AttachedPod::of(pod)))
}

/// A pod with a veth pair, on the node or on another.
fn attach_veth(node: &Node, layers: &Layers) -> Result<AttachedPod, LocalError> {
    let other = layers.other_node.map(|overlay| other_node::create(node, overlay)).transpose()?;
    let (host, mtu_bytes) = other.as_ref().map_or((node, None), |other| (&other.node, other.mtu_bytes));
    if layers.br_netfilter {
        br_netfilter::check(&host.netns)?;
    }
    let bridge = layers.bridge.then(|| bridge::create(host, layers.br_netfilter, mtu_bytes)).transpose()?;
    let pod = veth::create(host, bridge.as_deref(), mtu_bytes)?;
    Ok(match other {
        Some(other) => {
            let pod = Pod { link: other.link, ..pod };
            AttachedPod { other: Some(other.node.netns), ..AttachedPod::of(pod) }
        }
        None => AttachedPod::of(pod),
    })
}
