//! IP in IP as Calico sets it up (calico/node, felix/dataplane/linux/ipip_mgr.go): one device per node without a fixed destination; the
//! route across it names the node.

use rtnetlink::LinkIpIp;

use loadline_machine::Netlink;

use super::{End, LINK_MTU_BYTES};
use crate::{
    error::LocalError,
    layers::{Layer, unavailable::or_unavailable},
};

/// The outer IPv4 header.
const HEADERS_BYTES: u32 = 20;

/// Creates both ends and returns the tunnel's MTU in bytes.
pub(super) fn create(ends: &[End], layer: &Layer) -> Result<u32, LocalError> {
    let mtu_bytes = LINK_MTU_BYTES - HEADERS_BYTES;
    let name = layer.to_string();
    for end in ends {
        let made = end.netns.with_netlink(async |net: &Netlink| {
            let device = LinkIpIp::new(&name).local(end.here).mtu(mtu_bytes);
            net.add(&name, device.build()).await
        });
        let index = or_unavailable(made, layer, "ipip", "CONFIG_NET_IPIP")?;
        end.netns.with_netlink(async |net: &Netlink| {
            net.add_address(index, end.here_inside, 32).await?;
            net.set_up(index).await?;
            // The gateway is the outer destination (`ip_tunnel_xmit` in net/ipv4/ip_tunnel.c).
            net.add_route_across(index, end.there_inside, 32, end.there).await?;
            net.add_route_across(index, end.beyond.0, end.beyond.1, end.there).await
        })?;
    }
    Ok(mtu_bytes)
}
