//! The layer `veth`: a network namespace for the pod and a pair of links between it and the node.
//! Without a bridge the node's end is the gateway itself, with a host route, as with CNI's `ptp` plugin.

use loadline_machine::{Netns, Node};

use super::{Layer, pod::Pod, unavailable::or_unavailable};
use crate::error::LocalError;

/// Creates the namespace and the pair, attached to `bridge` if there is one.
pub(crate) fn create(node: &Node, bridge: Option<&str>, mtu_bytes: Option<u32>) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let joined = node.join(&netns, bridge, mtu_bytes);
    let own_end = or_unavailable(joined, &Layer::Veth, "veth", "CONFIG_VETH")?;
    let link = bridge.map_or(own_end, str::to_owned);
    Ok(Pod { netns, address: node.pods.far, subnet: node.pods, link })
}
