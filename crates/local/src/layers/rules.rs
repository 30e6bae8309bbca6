//! The layer `rules`: many rules that match nothing, tried one after the other for each packet from the client to the service.
//! It plants a cost of known origin, which a measurement must find again.

use std::net::SocketAddrV4;

use loadline_machine::{Error, Node, nftables};

/// Rules in one transaction. An ordinary user's is limited by `net.core.wmem_max` (20,000 rules at once do not fit into 4 MiB).
const RULES_AT_ONCE: u32 = 500;
/// An address that sends nothing: TEST-NET-1 (RFC 5737).
const UNUSED_ADDRESS: &str = "192.0.2.1";

/// Installs `count` rules for packets to `service`: where the node forwards, or where it receives if the service is `on_node`.
pub(crate) fn install(node: &Node, service: SocketAddrV4, on_node: bool, count: u32) -> Result<(), Error> {
    let table = format!("{}-rules", node.owner.label());
    let hook = if on_node { "input" } else { "forward" };
    node.netns.run(|| {
        nftables::install(&format!("table ip {table} {{ chain planted {{ }}; }}\n"))?;
        let mut left = count;
        while left > 0 {
            let batch = left.min(RULES_AT_ONCE);
            let rule = format!("add rule ip {table} planted ip saddr {UNUSED_ADDRESS} drop\n");
            nftables::install(&rule.repeat(batch as usize))?;
            left -= batch;
        }
        nftables::install(&format!(
            "table ip {table} {{ chain {hook} {{ type filter hook {hook} priority filter; \
             ip daddr {} tcp dport {} jump planted; }}; }}\n",
            service.ip(),
            service.port()
        ))
    })
}
