//! The layer `ebpf`: a veth pair past the node's stack, and `spin`, a program that costs a known time: both are BPF programs at links.

use loadline_bpf::{Attached, BpfError};

use loadline_machine::{Error, Netlink, Netns, Node, WIRE};

use super::{Layer, lacking::missing, pod::Pod, veth};
use crate::error::LocalError;

/// Makes the pair, routed, and has the programs hand its packets over from and to the wire.
pub(crate) fn lay(node: &Node) -> Result<(Pod, Attached), LocalError> {
    let pod = veth::lay(node, None, None)?;
    let hardware = hardware_address(&pod.netns)?;
    let attached = node
        .netns
        .run(|| Ok(loadline_bpf::attach_datapath(WIRE, &pod.link, pod.address, hardware)))?
        .map_err(|error| lacking(&Layer::Ebpf, error))?;
    Ok((pod, attached))
}

/// Holds each packet with payload to the pod for `loops` rounds, at the node's link towards it.
pub(crate) fn spin(node: &Node, link: &str, loops: u32) -> Result<Attached, LocalError> {
    let attached = node.netns.run(|| Ok(loadline_bpf::attach_spin(link, loops)))?;
    attached.map_err(|error| lacking(&Layer::Spin(loops), error))
}

fn hardware_address(pod: &Netns) -> Result<[u8; 6], Error> {
    pod.talk(async |net: &Netlink| net.hardware_address("eth0").await)
}

fn lacking(layer: &Layer, error: BpfError) -> LocalError {
    missing(layer, error.to_string())
}
