//! The layer `bridge`: the pod's gateway is a bridge, as in CNI's and Docker's bridge networks.

use rtnetlink::LinkBridge;

use loadline_machine::{Netlink, Node, Role};

use super::{Layer, unavailable::or_unavailable};
use crate::error::LocalError;

/// Creates the bridge, with the gateway's address, and returns its name. With `ip_rules`, its packets pass the node's IP rules (see
/// [`super::br_netfilter`]).
pub(crate) fn create(node: &Node, ip_rules: bool, mtu_bytes: Option<u32>) -> Result<String, LocalError> {
    let name = node.owner.link(Role::Bridge);
    let mut bridge = LinkBridge::new(&name);
    if ip_rules {
        bridge = bridge.nf_call_iptables(true);
    }
    let made = node.netns.with_netlink(async |net: &Netlink| net.add(&name, bridge.build()).await);
    let index = or_unavailable(made, &Layer::Bridge, "bridge", "CONFIG_BRIDGE")?;
    node.netns.with_netlink(async |net: &Netlink| {
        if let Some(mtu_bytes) = mtu_bytes {
            net.set_mtu(index, mtu_bytes).await?;
        }
        net.add_address(index, node.pods.node, node.pods.prefix).await?;
        net.set_up(index).await
    })?;
    node.forward_from(&name)?;
    Ok(name)
}
