//! Which addresses a run uses: one /20 of 198.18.0.0/15, the range set aside for benchmarks (RFC 2544, RFC 6890).
//! Slot 0 of it is the wire, slot k deployment k, and its upper half holds the addresses of dummy services.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddrV4},
};

use serde::{Deserialize, Serialize};

/// Deployments that one run has addresses for.
pub const SLOTS: u16 = 127;
/// Prefix length of a slot's subnet.
pub const SLOT_PREFIX: u8 = 28;
/// Prefix length of a run's block.
pub const BLOCK_PREFIX: u8 = 20;

const RANGE: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const RANGE_PREFIX: u8 = 15;
const BLOCK_SIZE: u32 = 1 << (32 - BLOCK_PREFIX);
const DUMMY_SERVICE_ADDRESSES: u32 = BLOCK_SIZE / 2;

/// A run's /20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block(Ipv4Addr);

/// Addresses at the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// Its first address.
    pub network: Ipv4Addr,
    /// Length of its prefix, in bits.
    pub prefix: u8,
    /// The node's address in it.
    pub node: Ipv4Addr,
    /// The address at the far end: the client's or the pod's.
    pub far: Ipv4Addr,
}

/// How the /28 of a deployment with its own node is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddresses {
    /// A /29, so that a pod may have its link on the wire: the node's and the client's ends.
    pub wire: Subnet,
    /// A pod's address on the wire.
    pub pod_on_wire: Ipv4Addr,
    /// A /30 behind the node: the gateway and the pod.
    pub pods: Subnet,
    /// The link to another node, without a subnet.
    pub link: Pair,
    /// The tunnel to another node, without a subnet.
    pub overlay: Pair,
}

/// Addresses of the node that the client reaches first, and of the one behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Of the node that the client reaches first.
    pub near: Ipv4Addr,
    /// Of the node behind it.
    pub far: Ipv4Addr,
}

impl Block {
    /// The first block that contains none of the `occupied` destinations and is not one of the `claimed`.
    pub fn first_free(occupied: &[(Ipv4Addr, u8)], claimed: &[Block]) -> Option<Block> {
        (RANGE..RANGE + (1 << (32 - RANGE_PREFIX)))
            .step_by(BLOCK_SIZE as usize)
            .map(|base| Block(Ipv4Addr::from_bits(base)))
            .find(|block| {
                !claimed.contains(block) && !occupied.iter().any(|&(to, prefix)| block.overlaps(to, prefix))
            })
    }

    /// Subnet of the wire.
    pub fn wire(self) -> Subnet {
        self.subnet(0)
    }

    /// Subnet of deployment `slot`, 1 to [`SLOTS`].
    pub fn slot(self, slot: u16) -> Subnet {
        self.subnet(slot)
    }

    /// Address and port of dummy service `index`, below [`loadline_model::platform::MOST_SERVICES`]: different from
    /// those of all others.
    pub fn dummy_service(self, index: u32) -> SocketAddrV4 {
        let address = self.0.to_bits() + DUMMY_SERVICE_ADDRESSES + index % DUMMY_SERVICE_ADDRESSES;
        SocketAddrV4::new(Ipv4Addr::from_bits(address), 80 + (index / DUMMY_SERVICE_ADDRESSES) as u16)
    }

    /// The same addresses for deployment `slot` on a node of its own.
    pub fn own(self, slot: u16) -> OwnAddresses {
        let first = self.slot(slot).network.to_bits();
        let at = |offset| Ipv4Addr::from_bits(first + offset);
        OwnAddresses {
            wire: subnet(at(0), 29),
            pod_on_wire: at(3),
            pods: subnet(at(8), 30),
            link: Pair { near: at(12), far: at(13) },
            overlay: Pair { near: at(14), far: at(15) },
        }
    }

    fn subnet(self, index: u16) -> Subnet {
        let network = self.0.to_bits() + (u32::from(index) << (32 - SLOT_PREFIX));
        subnet(Ipv4Addr::from_bits(network), SLOT_PREFIX)
    }

    /// Whether a route to `to`/`prefix` covers addresses of this block. Routes to more than the whole
    /// benchmark range (the default route above all) are not: ours are more specific and win.
    fn overlaps(self, to: Ipv4Addr, prefix: u8) -> bool {
        if prefix < RANGE_PREFIX {
            return false;
        }
        let shorter = prefix.min(BLOCK_PREFIX).min(32);
        let mask = u32::MAX << (32 - shorter);
        to.to_bits() & mask == self.0.to_bits() & mask
    }
}

impl Subnet {
    /// The subnet of `far` in a network with this prefix length; its first address is assumed to be the node's.
    pub fn containing(far: Ipv4Addr, prefix: u8) -> Subnet {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
        let network = far.to_bits() & mask;
        Subnet { far, ..subnet(Ipv4Addr::from_bits(network), prefix) }
    }
}

fn subnet(network: Ipv4Addr, prefix: u8) -> Subnet {
    let at = |offset| Ipv4Addr::from_bits(network.to_bits() + offset);
    Subnet { network, prefix, node: at(1), far: at(2) }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use loadline_model::platform::MOST_SERVICES;

    #[test]
    fn an_empty_machine_gives_the_first_block() {
        let default_route = (Ipv4Addr::UNSPECIFIED, 0);
        let block = Block::first_free(&[default_route], &[]).unwrap();
        assert_eq!(block.wire().node, Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(block.wire().far, Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!(block.slot(3).far, Ipv4Addr::new(198, 18, 0, 50));
    }

    #[test]
    fn blocks_with_addresses_routes_or_claims_are_skipped() {
        let first = Block::first_free(&[], &[]).unwrap();
        let occupied = [(Ipv4Addr::new(198, 18, 31, 255), 32), (Ipv4Addr::new(198, 18, 32, 0), 19)];
        let block = Block::first_free(&occupied, &[first]).unwrap();
        assert_eq!(block.0, Ipv4Addr::new(198, 18, 64, 0));
    }

    #[test]
    fn there_are_32_blocks_and_no_more() {
        let mut claimed = Vec::new();
        while let Some(block) = Block::first_free(&[], &claimed) {
            claimed.push(block);
        }
        assert_eq!(claimed.len(), 32);
        assert_eq!(claimed[31].0, Ipv4Addr::new(198, 19, 240, 0));
        assert_eq!(Block::first_free(&[(Ipv4Addr::new(198, 18, 0, 0), 15)], &[]), None);
    }

    #[test]
    fn an_own_node_has_sixteen_addresses_without_overlap() {
        let block = Block::first_free(&[], &[]).unwrap();
        let own = block.own(2);
        let used = [
            own.wire.node,
            own.wire.far,
            own.pod_on_wire,
            own.pods.node,
            own.pods.far,
            own.link.near,
            own.link.far,
            own.overlay.near,
            own.overlay.far,
        ];
        assert_eq!(used.iter().collect::<HashSet<_>>().len(), used.len());
        let slot = block.slot(2).network.to_bits();
        assert!(used.iter().all(|address| address.to_bits() & !15 == slot));
        assert_eq!(
            (own.wire.to_string(), own.pods.to_string()),
            ("198.18.0.32/29".into(), "198.18.0.40/30".into())
        );
    }

    #[test]
    fn dummy_services_differ_from_each_other_and_from_the_slots() {
        let block = Block::first_free(&[], &[]).unwrap();
        let dummy_services: HashSet<_> = (0..MOST_SERVICES).map(|index| block.dummy_service(index)).collect();
        assert_eq!(dummy_services.len(), MOST_SERVICES as usize);
        let last_slot = block.slot(SLOTS).network.to_bits() + 15;
        assert!(dummy_services.iter().all(|s| s.ip().to_bits() > last_slot));
        assert!(dummy_services.iter().all(|s| block.overlaps(*s.ip(), 32)));
    }
}
