//! The layer `macvlan`: the pod's link stands on the node's end of the wire, with a hardware address of its own (mode bridge), so that
//! packets pass none of the node's stack.

use rtnetlink::{LinkMacVlan, packet_route::link::MacVlanMode};

use loadline_machine::{Netlink, Netns, Node, Own, Role, WIRE};

use super::{Layer, lacking::or_missing, pod::Pod};
use crate::error::LocalError;

/// Makes the namespace and the link, with an address on the wire.
pub(crate) fn lay(node: &Node, own: &Own) -> Result<Pod, LocalError> {
    let netns = Netns::new()?;
    let name = node.owner.link(Role::Macvlan);
    let made = node.netns.talk(async |net: &Netlink| {
        let link = LinkMacVlan::new(&name, net.index_of(WIRE).await?, MacVlanMode::Bridge).build();
        net.add(&name, link).await
    });
    or_missing(made, &Layer::Macvlan, "macvlan", "CONFIG_MACVLAN")?;
    node.netns.talk(async |net: &Netlink| net.hand_over(&name, &netns, "eth0").await)?;
    let (address, subnet) = (own.addresses.pod_on_wire, own.addresses.wire);
    netns.talk(async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, address, subnet.prefix).await?;
        net.up(index).await
    })?;
    Ok(Pod { netns, address, subnet, link: WIRE.to_owned() })
}
