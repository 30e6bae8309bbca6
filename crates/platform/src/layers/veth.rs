//! The layer `veth`: a network namespace for the pod and a pair of links between it and the node.
//! Without a bridge the node's end is the gateway itself, with a host route, as CNI's `ptp` plugin has it.

use std::net::Ipv4Addr;

use crate::{
    Error, Ground, Netns,
    addresses::{SLOT_PREFIX, Subnet},
    ground::forward_from,
    netlink::{self, Netlink},
    owner::{Owner, Role},
};

/// A pod's network.
pub(crate) struct Laid {
    pub pod: Netns,
    /// The node's end of the pair.
    pub link: String,
}

/// Makes the namespace and the pair, attached to `bridge` if there is one.
pub(crate) fn lay(
    ground: &Ground,
    owner: &Owner,
    subnet: &Subnet,
    bridge: Option<&str>,
) -> Result<Laid, Error> {
    let pod = Netns::new()?;
    let link = join(ground, owner, subnet, &pod, bridge)?;
    Ok(Laid { pod, link })
}

/// Makes the pair to a namespace that is there, and returns the name of the node's end.
pub(crate) fn join(
    ground: &Ground,
    owner: &Owner,
    subnet: &Subnet,
    pod: &Netns,
    bridge: Option<&str>,
) -> Result<String, Error> {
    let (link, far) = (owner.link(Role::Veth), owner.link(Role::Peer));
    netlink::talk(ground.node(), async |net: &Netlink| {
        let index = net.add_veth(&link, &far, pod, "eth0").await?;
        if let Some(bridge) = bridge {
            net.attach(index, net.index_of(bridge).await?).await?;
            return net.up(index).await;
        }
        net.add_address(index, subnet.node, 32).await?;
        net.up(index).await?;
        net.add_route(index, subnet.far, 32, None).await
    })?;
    if bridge.is_none() {
        forward_from(ground.node(), &link)?;
    }
    netlink::talk(pod, async |net: &Netlink| {
        let index = net.index_of("eth0").await?;
        net.add_address(index, subnet.far, SLOT_PREFIX).await?;
        net.up(index).await?;
        net.add_route(index, Ipv4Addr::UNSPECIFIED, 0, Some(subnet.node)).await
    })?;
    Ok(link)
}
