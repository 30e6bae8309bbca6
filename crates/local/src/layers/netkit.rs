//! The layer `netkit`: in place of the veth pair a netkit pair (drivers/net/netkit.c), which hands packets over without a queue.
//! Mode L3, as Cilium has it: no hardware addresses and no ARP.

use std::net::Ipv4Addr;

use rtnetlink::{LinkNetkit, packet_route::link::NetkitMode};

use loadline_machine::{Netlink, Netns, Node, Role};

use super::{Layer, lacking::or_missing, pod::Pod};
use crate::error::LocalError;

/// Makes the namespace and the pair, with host routes at both ends.
pub(crate) fn lay(node: &Node) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let (link, far) = (node.owner.link(Role::Veth), node.owner.link(Role::Peer));
    let subnet = node.pods;
    let made = node.netns.talk(async |net: &Netlink| {
        net.add(&link, LinkNetkit::new(&link, &far, NetkitMode::L3).build()).await
    });
    let index = or_missing(made, &Layer::Netkit, "netkit", "CONFIG_NETKIT")?;
    node.netns.talk(async |net: &Netlink| {
        net.hand_over(&far, &netns, "eth0").await?;
        net.add_address(index, subnet.node, 32).await?;
        net.up(index).await?;
        net.add_route(index, subnet.far, 32, None).await
    })?;
    node.forward_from(&link)?;
    netns.talk(async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, subnet.far, 32).await?;
        net.up(index).await?;
        net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, None).await
    })?;
    Ok(Pod { netns, address: subnet.far, subnet, link })
}
