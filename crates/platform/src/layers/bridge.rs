//! The layer `bridge`: the pod's gateway is a bridge, as CNI's and Docker's bridge networks have it.

use crate::{
    Error, Ground,
    addresses::{SLOT_PREFIX, Subnet},
    ground::forward_from,
    netlink::{self, Netlink},
    owner::{Owner, Role},
};

/// Makes the bridge, with the gateway's address, and returns its name.
pub(crate) fn lay(ground: &Ground, owner: &Owner, subnet: &Subnet) -> Result<String, Error> {
    let name = owner.link(Role::Bridge);
    netlink::talk(ground.node(), async |net: &Netlink| {
        let index = net.add_bridge(&name).await?;
        net.add_address(index, subnet.node, SLOT_PREFIX).await?;
        net.up(index).await
    })?;
    forward_from(ground.node(), &name)?;
    Ok(name)
}
