//! Which addresses a run uses: one /20 of 198.18.0.0/15, the range set aside for benchmarks (RFC 2544, RFC 6890).
//! Slot 0 of it is the wire, slot k deployment k, and its upper half stands in for other services' addresses.

use std::net::{Ipv4Addr, SocketAddrV4};

use serde::{Deserialize, Serialize};

/// Deployments that one run has addresses for.
pub(crate) const SLOTS: u16 = 127;
/// Stand-in services that have an address and port of their own.
pub(crate) const STAND_INS: u32 = 20_000;
/// Prefix length of a slot's subnet.
pub(crate) const SLOT_PREFIX: u8 = 28;
/// Prefix length of a run's block.
pub(crate) const BLOCK_PREFIX: u8 = 20;

const RANGE: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const RANGE_PREFIX: u8 = 15;
const BLOCK_SIZE: u32 = 1 << (32 - BLOCK_PREFIX);
const STAND_IN_ADDRESSES: u32 = BLOCK_SIZE / 2;

/// A run's /20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block(Ipv4Addr);

/// The /28 of the wire or of one deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subnet {
    pub network: Ipv4Addr,
    /// The node's address in it.
    pub node: Ipv4Addr,
    /// The address at the far end: the client's or the pod's.
    pub far: Ipv4Addr,
}

impl Block {
    /// The first block that holds none of the `occupied` destinations and isn't one of the `claimed`.
    pub fn first_free(occupied: &[(Ipv4Addr, u8)], claimed: &[Block]) -> Option<Block> {
        (RANGE..RANGE + (1 << (32 - RANGE_PREFIX)))
            .step_by(BLOCK_SIZE as usize)
            .map(|base| Block(Ipv4Addr::from_bits(base)))
            .find(|block| {
                !claimed.contains(block) && !occupied.iter().any(|&(to, prefix)| block.meets(to, prefix))
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

    /// Address and port of stand-in service `index`, below [`STAND_INS`]: unlike those of all others.
    pub fn stand_in(self, index: u32) -> SocketAddrV4 {
        let address = self.0.to_bits() + STAND_IN_ADDRESSES + index % STAND_IN_ADDRESSES;
        SocketAddrV4::new(Ipv4Addr::from_bits(address), 80 + (index / STAND_IN_ADDRESSES) as u16)
    }

    fn subnet(self, index: u16) -> Subnet {
        let network = self.0.to_bits() + (u32::from(index) << (32 - SLOT_PREFIX));
        let at = |offset| Ipv4Addr::from_bits(network + offset);
        Subnet { network: at(0), node: at(1), far: at(2) }
    }

    /// Whether a route to `to`/`prefix` is about addresses of this block. Routes to more than the whole
    /// benchmark range (the default route above all) are not: ours are more specific and win.
    fn meets(self, to: Ipv4Addr, prefix: u8) -> bool {
        if prefix < RANGE_PREFIX {
            return false;
        }
        let shorter = prefix.min(BLOCK_PREFIX).min(32);
        let mask = u32::MAX << (32 - shorter);
        to.to_bits() & mask == self.0.to_bits() & mask
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_empty_machine_gives_the_first_block() {
        let default_route = (Ipv4Addr::UNSPECIFIED, 0);
        let block = Block::first_free(&[default_route], &[]).unwrap();
        assert_eq!(block.wire().node, Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(block.wire().far, Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!(block.slot(3).far, Ipv4Addr::new(198, 18, 0, 50));
    }

    #[test]
    fn blocks_with_addresses_routes_or_claims_are_passed_over() {
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
    fn stand_ins_differ_from_each_other_and_from_the_slots() {
        let block = Block::first_free(&[], &[]).unwrap();
        let stand_ins: HashSet<_> = (0..STAND_INS).map(|index| block.stand_in(index)).collect();
        assert_eq!(stand_ins.len(), STAND_INS as usize);
        let last_slot = block.slot(SLOTS).network.to_bits() + 15;
        assert!(stand_ins.iter().all(|s| s.ip().to_bits() > last_slot));
        assert!(stand_ins.iter().all(|s| block.meets(*s.ip(), 32)));
    }
}
