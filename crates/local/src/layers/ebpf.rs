//! The layer `ebpf`: a veth pair past the node's stack, and `spin`, a program with a known cost per packet: both are BPF programs attached
//! to links.

use loadline_bpf::{Attached, BpfError};

use loadline_machine::{Error, Netlink, Netns, Node, WIRE};

use super::{Layer, pod::Pod, unavailable::unavailable, veth};
use crate::error::LocalError;

/// Creates the pair, routed, and attaches the programs that redirect its packets from and to the wire.
pub(crate) fn create(node: &Node) -> Result<(Pod, Attached), LocalError> {
    let pod = veth::create(node, None, None)?;
    let hardware = hardware_address(&pod.netns)?;
    let attached = node
        .netns
        .run(|| Ok(loadline_bpf::attach_datapath(WIRE, &pod.link, pod.address, hardware)))?
        .map_err(|error| kernel_lacks(&Layer::Ebpf, error))?;
    Ok((pod, attached))
}

/// Delays each packet with payload to the pod by `loops` iterations, at the node's link towards it.
pub(crate) fn spin(node: &Node, link: &str, loops: u32) -> Result<Attached, LocalError> {
    let attached = node.netns.run(|| Ok(loadline_bpf::attach_spin(link, loops)))?;
    attached.map_err(|error| kernel_lacks(&Layer::Spin(loops), error))
}

fn hardware_address(pod: &Netns) -> Result<[u8; 6], Error> {
    pod.with_netlink(async |net: &Netlink| net.hardware_address("eth0").await)
}

fn kernel_lacks(layer: &Layer, error: BpfError) -> LocalError {
    unavailable(layer, error.to_string())
}
