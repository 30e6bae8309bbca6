//! The layer `macvlan`: the pod's link is on the node's end of the wire, with a hardware address of its own (mode bridge), so that
//! packets bypass the node's stack.

use rtnetlink::{LinkMacVlan, packet_route::link::MacVlanMode};

use loadline_machine::{Netlink, Netns, Node, OwnNode, Role, WIRE};

use super::{Layer, pod::Pod, unavailable::or_unavailable};
use crate::error::LocalError;

/// Creates the namespace and the link, with an address on the wire.
pub(crate) fn create(node: &Node, own: &OwnNode) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let name = node.owner.link(Role::Macvlan);
    let made = node.netns.with_netlink(async |net: &Netlink| {
        let link = LinkMacVlan::new(&name, net.index_of(WIRE).await?, MacVlanMode::Bridge).build();
        net.add(&name, link).await
    });
    or_unavailable(made, &Layer::Macvlan, "macvlan", "CONFIG_MACVLAN")?;
    node.netns.with_netlink(async |net: &Netlink| net.move_to_namespace(&name, &netns, "eth0").await)?;
    let (address, subnet) = (own.addresses.pod_on_wire, own.addresses.wire);
    netns.with_netlink(async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, address, subnet.prefix).await?;
        net.set_up(index).await
    })?;
    Ok(Pod { netns, address, subnet, link: WIRE.to_owned() })
}
