//! The layer `veth`: a network namespace for the pod and a pair of links between it and the node.
//! Without a bridge the node's end is the gateway itself, with a host route, as CNI's `ptp` plugin has it.

use std::net::Ipv4Addr;

use super::{Layer, lacking::or_missing, pod::Pod};
use crate::{
    Error, Netns,
    netlink::{self, Netlink},
    node::Node,
    owner::Role,
};

/// Makes the namespace and the pair, attached to `bridge` if there is one.
pub(crate) fn lay(node: &Node, bridge: Option<&str>, mtu_bytes: Option<u32>) -> Result<Pod, Error> {
    let netns = Netns::new()?;
    let own_end = join(node, &netns, bridge, mtu_bytes)?;
    let link = bridge.map_or(own_end, str::to_owned);
    Ok(Pod { netns, address: node.pods.far, subnet: node.pods, link })
}

/// Makes the pair to a namespace that is there, and returns the name of the node's end.
pub(crate) fn join(
    node: &Node,
    pod: &Netns,
    bridge: Option<&str>,
    mtu_bytes: Option<u32>,
) -> Result<String, Error> {
    let subnet = &node.pods;
    let (link, far) = (node.owner.link(Role::Veth), node.owner.link(Role::Peer));
    netlink::talk(&node.netns, async |net: &Netlink| {
        let made = net.add_veth(&link, &far, pod, "eth0").await;
        let index = or_missing(made, &Layer::Veth, "veth", "CONFIG_VETH")?;
        if let Some(mtu_bytes) = mtu_bytes {
            net.set_mtu(index, mtu_bytes).await?;
        }
        if let Some(bridge) = bridge {
            net.attach(index, net.index_of(bridge).await?).await?;
            return net.up(index).await;
        }
        net.add_address(index, subnet.node, 32).await?;
        net.up(index).await?;
        net.add_route(index, subnet.far, 32, None).await
    })?;
    if bridge.is_none() {
        node.forward_from(&link)?;
    }
    netlink::talk(pod, async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        if let Some(mtu_bytes) = mtu_bytes {
            net.set_mtu(index, mtu_bytes).await?;
        }
        net.add_address(index, subnet.far, subnet.prefix).await?;
        net.up(index).await?;
        net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, Some(subnet.node)).await
    })?;
    Ok(link)
}
