//! The layers of another node: the pod is on a second node behind the first, with a veth pair between them as their common network, which
//! packets cross by a plain route or in a tunnel.

mod geneve;
mod ipip;
mod vxlan;
mod wireguard;

use std::net::Ipv4Addr;

use loadline_model::platform::LayersError;

use loadline_machine::{Error, Netlink, Netns, Node, addresses::OwnAddresses};

use super::{Layer, Overlay};
use crate::error::LocalError;

/// The near node's end of the common network; the far one's is `eth0`, its only link.
const NEAR: &str = "eth1";
const FAR: &str = "eth0";
/// The default MTU of a veth link, in bytes; that of a tunnel is smaller by its headers.
const LINK_MTU_BYTES: u32 = 1500;

/// The other node, which has the pod.
pub(crate) struct OtherNode {
    pub node: Node,
    /// The near node's link towards it.
    pub link: String,
    /// The MTU of the path to it, in bytes, if smaller than that of other links.
    pub mtu_bytes: Option<u32>,
}

/// One of the two nodes, as its end of a tunnel is created.
struct End<'a> {
    netns: &'a Netns,
    /// Its link of the common network.
    link: &'a str,
    /// Addresses on the common network: its own and the other's.
    here: Ipv4Addr,
    there: Ipv4Addr,
    /// Addresses on the tunnel, likewise.
    here_inside: Ipv4Addr,
    there_inside: Ipv4Addr,
    /// What is reached through the tunnel, besides the other's address on it.
    beyond: (Ipv4Addr, u8),
}

/// Creates the node, its link to the near one, and the path between them.
pub(crate) fn create(near: &Node, overlay: Overlay) -> Result<OtherNode, LocalError> {
    let layer = Layer::OtherNode(overlay);
    let own =
        near.own.as_ref().ok_or(LocalError::Layers(LayersError::NeedsOwnNode { layer: layer.clone() }))?;
    let OwnAddresses { wire, pods, link, overlay: inside, .. } = own.addresses;
    let netns = loadline_machine::new_node_namespace()?;
    let ends = [
        End {
            netns: &near.netns,
            link: NEAR,
            here: link.near,
            there: link.far,
            here_inside: inside.near,
            there_inside: inside.far,
            beyond: (pods.network, pods.prefix),
        },
        End {
            netns: &netns,
            link: FAR,
            here: link.far,
            there: link.near,
            here_inside: inside.far,
            there_inside: inside.near,
            beyond: (wire.network, wire.prefix),
        },
    ];
    near.netns.with_netlink(async |net: &Netlink| net.add_veth(NEAR, &netns, FAR).await.map(drop))?;
    for end in &ends {
        end.netns.with_netlink(async |net: &Netlink| {
            let index = net.index_of(end.link).await?;
            net.add_address(index, end.here, 32).await?;
            net.set_up(index).await?;
            net.add_route(index, end.there, 32, None).await
        })?;
    }
    let mtu_bytes = match overlay {
        Overlay::Routed => {
            ends.iter().try_for_each(route)?;
            None
        }
        Overlay::Vxlan => Some(vxlan::create(&ends, &layer)?),
        Overlay::Ipip => Some(ipip::create(&ends, &layer)?),
        Overlay::Geneve => Some(geneve::create(&ends, &layer)?),
        Overlay::Wireguard => Some(wireguard::create(&ends, &layer)?),
    };
    let tunnel = layer.to_string();
    let (near_link, far_link) = match overlay {
        Overlay::Routed => (NEAR, FAR),
        _ => (tunnel.as_str(), tunnel.as_str()),
    };
    near.forward_from(near_link)?;
    netns.forward_from(far_link)?;
    // Its pod is not on the wire, so nothing needs to be forwarded from there.
    let node = Node { netns: netns.clone(), own: None, ..near.clone() };
    Ok(OtherNode { node, link: near_link.to_owned(), mtu_bytes })
}

/// A plain route by the other node's address, as with Flannel's host-gw and Calico without encapsulation.
fn route(end: &End) -> Result<(), Error> {
    end.netns.with_netlink(async |net: &Netlink| {
        let index = net.index_of(end.link).await?;
        net.add_route(index, end.beyond.0, end.beyond.1, Some(end.there)).await
    })
}

/// A hardware address derived from an IP address: locally administered (IEEE 802).
fn hardware_address(of: Ipv4Addr) -> Vec<u8> {
    [&[0x02, 0x00][..], &of.octets()].concat()
}
