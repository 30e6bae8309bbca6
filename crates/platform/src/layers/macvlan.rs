//! The layer `macvlan`: the pod's link stands on the node's end of the wire, with a hardware address of its own (mode bridge), so that
//! packets pass none of the node's stack.

use rtnetlink::{LinkMacVlan, packet_route::link::MacVlanMode};

use super::{Layer, lacking::or_missing, pod::Pod};
use crate::{
    Error, Netns,
    netlink::{self, Netlink},
    node::{Node, Own, WIRE},
    owner::Role,
};

/// Makes the namespace and the link, with an address on the wire.
pub(crate) fn lay(node: &Node, own: &Own) -> Result<Pod, Error> {
    let netns = Netns::new()?;
    let name = node.owner.link(Role::Macvlan);
    netlink::talk(&node.netns, async |net: &Netlink| {
        let link = LinkMacVlan::new(&name, net.index_of(WIRE).await?, MacVlanMode::Bridge).build();
        or_missing(net.add(&name, link).await, &Layer::Macvlan, "macvlan", "CONFIG_MACVLAN")?;
        net.hand_over(&name, &netns, "eth0").await
    })?;
    let (address, subnet) = (own.addresses.pod_on_wire, own.addresses.wire);
    netlink::talk(&netns, async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, address, subnet.prefix).await?;
        net.up(index).await
    })?;
    Ok(Pod { netns, address, subnet, link: WIRE.to_owned() })
}
