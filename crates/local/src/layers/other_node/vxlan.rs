//! VXLAN as Flannel sets it up (flannel, pkg/backend/vxlan): one device per node without learning, with static entries for the other's
//! device, and a route across it.

use rtnetlink::LinkVxlan;

use loadline_machine::Netlink;

use super::{End, LINK_MTU_BYTES, hardware_address};
use crate::{
    error::LocalError,
    layers::{Layer, unavailable::or_unavailable},
};

/// Flannel's network identifier, and the port that Linux used before one was standardised.
const VNI: u32 = 1;
const PORT: u16 = 8472;
/// Outer IPv4, UDP and VXLAN headers and the inner Ethernet header: 20 + 8 + 8 + 14.
const HEADERS_BYTES: u32 = 50;

/// Creates both ends and returns the tunnel's MTU in bytes.
pub(super) fn create(ends: &[End], layer: &Layer) -> Result<u32, LocalError> {
    let mtu_bytes = LINK_MTU_BYTES - HEADERS_BYTES;
    let name = layer.to_string();
    for end in ends {
        let made = end.netns.with_netlink(async |net: &Netlink| {
            let device = LinkVxlan::new(&name, VNI)
                .dev(net.index_of(end.link).await?)
                .local(end.here)
                .port(PORT)
                .learning(false)
                .address(hardware_address(end.here_inside))
                .mtu(mtu_bytes);
            net.add(&name, device.build()).await
        });
        let index = or_unavailable(made, layer, "vxlan", "CONFIG_VXLAN")?;
        end.netns.with_netlink(async |net: &Netlink| {
            net.add_address(index, end.here_inside, 32).await?;
            net.set_up(index).await?;
            let device_there = hardware_address(end.there_inside);
            net.add_neighbour(index, end.there_inside, &device_there).await?;
            net.add_forwarding(index, &device_there, end.there).await?;
            net.add_route(index, end.there_inside, 32, None).await?;
            net.add_route(index, end.beyond.0, end.beyond.1, Some(end.there_inside)).await
        })?;
    }
    Ok(mtu_bytes)
}
