//! The layers `ipvlan-l2`, `-l3` and `-l3s`: the pod's link is on the node's end of the wire and shares its hardware address
//! (Documentation/networking/ipvlan.rst).

use std::net::Ipv4Addr;

use rtnetlink::{LinkIpVlan, packet_route::link::IpVlanMode};

use loadline_machine::{Netlink, Netns, Node, OwnNode, Role, WIRE};

use super::{IpvlanMode, Layer, pod::Pod, unavailable::or_unavailable};
use crate::error::LocalError;

/// Creates the namespace and the link. In mode L2 its address is on the wire. In the other modes it answers no ARP there, so the client
/// reaches it through the node.
pub(crate) fn create(node: &Node, own: &OwnNode, mode: IpvlanMode) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let name = node.owner.link(Role::Macvlan);
    let kind = match mode {
        IpvlanMode::L2 => IpVlanMode::L2,
        IpvlanMode::L3 => IpVlanMode::L3,
        IpvlanMode::L3s => IpVlanMode::L3S,
    };
    let made = node.netns.with_netlink(async |net: &Netlink| {
        let link = LinkIpVlan::new(&name, net.index_of(WIRE).await?, kind).build();
        net.add(&name, link).await
    });
    or_unavailable(made, &Layer::Ipvlan(mode), "ipvlan", "CONFIG_IPVLAN")?;
    node.netns.with_netlink(async |net: &Netlink| net.move_to_namespace(&name, &netns, "eth0").await)?;
    let (address, subnet) = match mode {
        IpvlanMode::L2 => (own.addresses.pod_on_wire, own.addresses.wire),
        IpvlanMode::L3 | IpvlanMode::L3s => (node.pods.far, node.pods),
    };
    netns.with_netlink(async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        if mode == IpvlanMode::L2 {
            net.add_address(index, address, subnet.prefix).await?;
            return net.set_up(index).await;
        }
        net.add_address(index, address, 32).await?;
        net.set_up(index).await?;
        net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, None).await
    })?;
    Ok(Pod { netns, address, subnet, link: WIRE.to_owned() })
}
