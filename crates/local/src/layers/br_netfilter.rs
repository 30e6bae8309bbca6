//! The layer `br-netfilter`: what passes the pod's bridge passes the node's IP rules there, as on every node of Kubernetes.
//!
//! It is switched on by the bridge's own attribute (`IFLA_BR_NF_CALL_IPTABLES`), so that no setting of the machine changes. On this path
//! it acts in one direction only (net/bridge/br_netfilter_hooks.c): what the pod sends enters the bridge by a port, goes through the IP
//! layer's prerouting there, with a note of the port attached to the packet, and is spared the second time. What the node routes to the
//! pod leaves through the bridge's own device; such a packet was never bridged, and the hook lets it pass. Only between two pods of one
//! bridge, which no rung has, would forwarding rules apply as well.

use std::path::Path;

use loadline_machine::Netns;

use super::{Layer, lacking::missing};
use crate::error::LocalError;

/// There in every namespace once the module is.
const SETTINGS: &str = "/proc/sys/net/bridge";

/// Refuses where the module isn't loaded. Loading it is the user's business: it has all bridges of the machine pass their packets to IP
/// rules, those of other rungs included.
pub(crate) fn check(node: &Netns) -> Result<(), LocalError> {
    if node.run(|| Ok(Path::new(SETTINGS).exists()))? {
        return Ok(());
    }
    Err(missing(
        &Layer::BrNetfilter,
        "the kernel has no br_netfilter (CONFIG_BRIDGE_NETFILTER), or it isn't loaded: `modprobe br_netfilter` as root loads it, and \
         `sysctl -w net.bridge.bridge-nf-call-iptables=0` keeps the machine's own bridges as they are",
    ))
}
