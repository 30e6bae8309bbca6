//! Geneve: one device per node that leads to the other node, with a static entry for the device there and a route across it.

use rtnetlink::LinkGeneve;

use loadline_machine::Netlink;

use super::{End, LINK_MTU_BYTES, hardware_address};
use crate::{
    error::LocalError,
    layers::{Layer, unavailable::or_unavailable},
};

const VNI: u32 = 1;
/// The port of RFC 8926.
const PORT: u16 = 6081;
/// Outer IPv4, UDP and Geneve headers (no options) and the inner Ethernet header: 20 + 8 + 8 + 14.
const HEADERS_BYTES: u32 = 50;

/// Creates both ends and returns the tunnel's MTU in bytes.
pub(super) fn create(ends: &[End], layer: &Layer) -> Result<u32, LocalError> {
    let mtu_bytes = LINK_MTU_BYTES - HEADERS_BYTES;
    let name = layer.to_string();
    for end in ends {
        let made = end.netns.with_netlink(async |net: &Netlink| {
            let device = LinkGeneve::new(&name, VNI)
                .remote(end.there)
                .port(PORT)
                .address(hardware_address(end.here_inside))
                .mtu(mtu_bytes);
            net.add(&name, device.build()).await
        });
        let index = or_unavailable(made, layer, "geneve", "CONFIG_GENEVE")?;
        end.netns.with_netlink(async |net: &Netlink| {
            net.add_address(index, end.here_inside, 32).await?;
            net.set_up(index).await?;
            net.add_neighbour(index, end.there_inside, &hardware_address(end.there_inside)).await?;
            net.add_route(index, end.there_inside, 32, None).await?;
            net.add_route(index, end.beyond.0, end.beyond.1, Some(end.there_inside)).await
        })?;
    }
    Ok(mtu_bytes)
}
