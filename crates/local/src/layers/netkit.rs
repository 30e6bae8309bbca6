//! The layer `netkit`: instead of the veth pair a netkit pair (drivers/net/netkit.c), which passes packets without a queue.
//! Mode L3, as Cilium uses it: no hardware addresses and no ARP.

use std::net::Ipv4Addr;

use rtnetlink::{LinkNetkit, packet_route::link::NetkitMode};

use loadline_machine::{Netlink, Netns, Node, Role};

use super::{Layer, pod::Pod, unavailable::or_unavailable};
use crate::error::LocalError;

/// Creates the namespace and the pair, with host routes at both ends.
pub(crate) fn create(node: &Node) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let (link, far) = (node.owner.link(Role::Veth), node.owner.link(Role::Peer));
    let subnet = node.pods;
    let made = node.netns.with_netlink(async |net: &Netlink| {
        net.add(&link, LinkNetkit::new(&link, &far, NetkitMode::L3).build()).await
    });
    let index = or_unavailable(made, &Layer::Netkit, "netkit", "CONFIG_NETKIT")?;
    node.netns.with_netlink(async |net: &Netlink| {
        net.move_to_namespace(&far, &netns, "eth0").await?;
        net.add_address(index, subnet.node, 32).await?;
        net.set_up(index).await?;
        net.add_route(index, subnet.far, 32, None).await
    })?;
    node.forward_from(&link)?;
    netns.with_netlink(async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, subnet.far, 32).await?;
        net.set_up(index).await?;
        net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, None).await
    })?;
    Ok(Pod { netns, address: subnet.far, subnet, link })
}
