//! The eBPF datapath: packets between the wire and the pod bypass the node's IP stack (`programs/datapath.c`).

use std::net::Ipv4Addr;

use aya::{include_bytes_aligned, maps::HashMap, programs::TcAttachType};
use nix::ifaddrs::getifaddrs;

use crate::{
    Attached, BpfError,
    attached::{Hook, index_of},
    object::Object,
};

const DATAPATH: Object = Object {
    bytes: include_bytes_aligned!("../programs/datapath.o"),
    programs: &["ll_to_pod", "ll_from_pod"],
    since: "5.10",
};

/// Redirects packets that arrive on `wire` for the address `pod` directly to the pod, and what the pod sends directly to the wire, as
/// Cilium's host routing does. `pod_link` is the node's end of a veth pair whose other end, with the Ethernet address `pod_mac`, is in
/// another network namespace: to anything else the kernel drops the packets. Both links are in the calling thread's network namespace.
///
/// The node's stack still answers for the node: ARP, and what the pod sends to an address that the node has now. The node needs a
/// route to the destination of the pod's answers, but no forwarding.
///
/// # Errors
/// Without root, on a kernel before 5.10 or without the options that the error names, and if there is no such link.
pub fn attach_datapath(
    wire: &str,
    pod_link: &str,
    pod: Ipv4Addr,
    pod_mac: [u8; 6],
) -> Result<Attached, BpfError> {
    let (wire_index, pod_index) = (index_of(wire)?, index_of(pod_link)?);
    let mut ebpf = DATAPATH.load(&[
        ("wire", &wire_index.to_ne_bytes()),
        ("pod_link", &pod_index.to_ne_bytes()),
        ("pod", &pod.octets()),
        ("pod_mac", &pod_mac),
    ])?;

    let what = "pass the node's addresses to the BPF datapath";
    let map = ebpf.map_mut("node_addresses").ok_or_else(|| BpfError::new(what, "it has no map for them"))?;
    let mut map: HashMap<_, [u8; 4], u8> = HashMap::try_from(map).map_err(|e| BpfError::new(what, e))?;
    let links = getifaddrs().map_err(|e| BpfError::new("list the node's addresses", e))?;
    for address in links.filter_map(|link| Some(link.address?.as_sockaddr_in()?.ip())) {
        map.insert(address.octets(), 1, 0).map_err(|e| BpfError::new(what, e))?;
    }

    Attached::new(
        ebpf,
        &[
            Hook { program: "ll_to_pod", link: wire, side: TcAttachType::Ingress },
            Hook { program: "ll_from_pod", link: pod_link, side: TcAttachType::Ingress },
        ],
    )
}

#[cfg(test)]
mod tests {
    use aya::{TestRun, programs::TestRunOptions};

    use super::*;
    use crate::object::classifier;

    const POD: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 2);
    const POD_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
    const NODE_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
    /// "Redirect it" and "not mine", in `linux/pkt_cls.h`.
    const TC_ACT_REDIRECT: u32 = 7;
    const TC_ACT_UNSPEC: u32 = u32::MAX;

    /// An Ethernet frame with an empty IPv4 packet.
    fn packet(to: Ipv4Addr, ttl: u8) -> Vec<u8> {
        let mut ip = vec![0x45, 0, 0, 20, 0, 1, 0x40, 0, ttl, 6, 0, 0, 10, 9, 0, 1];
        ip.extend(to.octets());
        let check = !sum(&ip);
        ip[10..12].copy_from_slice(&check.to_be_bytes());
        [&NODE_MAC[..], &[2, 0, 0, 0, 0, 3], &[8, 0], &ip].concat()
    }

    /// One's complement sum (RFC 1071): all ones for a header whose checksum is right.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        (sum as u16).wrapping_add((sum >> 16) as u16)
    }

    /// The program's verdict on a packet, and the packet afterwards.
    fn run(program: &str, packet: &[u8]) -> (u32, Vec<u8>) {
        let mut ebpf = DATAPATH.load(&[("pod", &POD.octets()), ("pod_mac", &POD_MAC)]).unwrap();
        let mut out = vec![0; packet.len()];
        let options =
            TestRunOptions { data_in: Some(packet), data_out: Some(&mut out), ..TestRunOptions::new() };
        let verdict = classifier(&mut ebpf, program).unwrap().test_run(options).unwrap().return_value;
        (verdict, out)
    }

    #[test]
    fn a_packet_to_the_pod_goes_there_with_its_ethernet_address_and_one_hop_less() {
        for ttl in [2, 64, 255] {
            let (verdict, out) = run("ll_to_pod", &packet(POD, ttl));
            assert_eq!(verdict, TC_ACT_REDIRECT);
            assert_eq!((&out[..6], &out[6..12]), (&POD_MAC[..], &NODE_MAC[..]));
            assert_eq!((out[22], sum(&out[14..34])), (ttl - 1, 0xffff));
        }
    }

    #[test]
    fn a_packet_from_the_pod_has_one_hop_less() {
        let (verdict, out) = run("ll_from_pod", &packet(Ipv4Addr::new(10, 9, 0, 7), 64));
        assert_eq!(verdict, TC_ACT_REDIRECT);
        assert_eq!((out[22], sum(&out[14..34])), (63, 0xffff));
    }

    #[test]
    fn packets_that_the_datapath_does_not_route_are_unchanged() {
        let arp = [&[0xff; 6][..], &POD_MAC, &[8, 6], &[0; 28]].concat();
        let other = packet(Ipv4Addr::new(10, 9, 1, 3), 64);
        for (program, packet) in [
            ("ll_to_pod", &arp),
            ("ll_from_pod", &arp),
            ("ll_to_pod", &other),
            ("ll_to_pod", &packet(POD, 1)),
        ] {
            assert_eq!(run(program, packet), (TC_ACT_UNSPEC, packet.clone()), "{program} {packet:?}");
        }
    }
}
