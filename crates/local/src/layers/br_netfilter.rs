//! The layer `br-netfilter`: packets on the pod's bridge pass the node's IP rules there, as on every Kubernetes node.
//! It is enabled by the bridge's own attribute (`IFLA_BR_NF_CALL_IPTABLES`), so that no setting of the machine changes. On this path
//! it acts in one direction only (net/bridge/br_netfilter_hooks.c): what the pod sends enters the bridge by a port, goes through the IP
//! layer's prerouting there, with the port recorded in the packet, and skips it the second time. What the node routes to the
//! pod leaves through the bridge's own device; such a packet was never bridged, and the hook lets it pass. Only between two pods of one
//! bridge, which no rung has, would forwarding rules apply as well.

use std::path::Path;

use loadline_machine::Netns;

use super::{Layer, unavailable::unavailable};
use crate::error::LocalError;

/// Exists in every namespace once the module is loaded.
const SETTINGS: &str = "/proc/sys/net/bridge";

/// Fails where the module is not loaded. Loading it is left to the user: it makes all bridges of the machine, including those of other
/// rungs, pass their packets to IP rules.
pub(crate) fn check(node: &Netns) -> Result<(), LocalError> {
    if node.run(|| Ok(Path::new(SETTINGS).exists()))? {
        return Ok(());
    }
    Err(unavailable(
        &Layer::BrNetfilter,
        "the kernel has no br_netfilter (CONFIG_BRIDGE_NETFILTER), or it is not loaded: as root, `modprobe br_netfilter` loads it, and `sysctl -w net.bridge.bridge-nf-call-iptables=0` leaves the machine's own bridges unaffected",
    ))
}
