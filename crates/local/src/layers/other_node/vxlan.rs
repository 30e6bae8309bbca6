//! VXLAN as Flannel lays it (flannel, pkg/backend/vxlan): one device a node that learns nothing, with static entries for the other's
//! device, and a route across it.

use rtnetlink::LinkVxlan;

use loadline_machine::Netlink;

use super::{End, LINK_MTU_BYTES, hardware_address};
use crate::{
    error::LocalError,
    layers::{Layer, lacking::or_missing},
};

/// Flannel's network identifier, and the port that Linux took before there was a standard one.
const VNI: u32 = 1;
const PORT: u16 = 8472;
/// Outer IPv4, UDP and VXLAN headers and the inner Ethernet header: 20 + 8 + 8 + 14.
const HEADERS_BYTES: u32 = 50;

/// Lays both ends and returns the tunnel's MTU in bytes.
pub(super) fn lay(ends: &[End], layer: &Layer) -> Result<u32, LocalError> {
    let mtu_bytes = LINK_MTU_BYTES - HEADERS_BYTES;
    let name = layer.to_string();
    for end in ends {
        let made = end.netns.talk(async |net: &Netlink| {
            let device = LinkVxlan::new(&name, VNI)
                .dev(net.index_of(end.link).await?)
                .local(end.here)
                .port(PORT)
                .learning(false)
                .address(hardware_address(end.here_inside))
                .mtu(mtu_bytes);
            net.add(&name, device.build()).await
        });
        let index = or_missing(made, layer, "vxlan", "CONFIG_VXLAN")?;
        end.netns.talk(async |net: &Netlink| {
            net.add_address(index, end.here_inside, 32).await?;
            net.up(index).await?;
            let device_there = hardware_address(end.there_inside);
            net.add_neighbour(index, end.there_inside, &device_there).await?;
            net.add_forwarding(index, &device_there, end.there).await?;
            net.add_route(index, end.there_inside, 32, None).await?;
            net.add_route(index, end.beyond.0, end.beyond.1, Some(end.there_inside)).await
        })?;
    }
    Ok(mtu_bytes)
}
