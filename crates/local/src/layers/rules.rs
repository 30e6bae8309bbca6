//! The layer `rules`: many rules that match nothing, tried one after the other for each packet from the client to the service.
//! It plants a cost of known origin, which a measurement must find again.

use std::net::SocketAddrV4;

use loadline_machine::{Error, Node, nftables};

/// Rules in the chain that a packet goes through again and again: few enough for a first-level cache (a rule takes about 100 bytes), so
/// that each costs the same whatever the service works on, and displaces nothing of it.
const RULES_OF_CHAIN: u32 = 200;
/// Rules in one transaction. An ordinary user's is limited by `net.core.wmem_max` (20,000 rules at once do not fit into 4 MiB).
const RULES_AT_ONCE: usize = 500;
/// An address that sends nothing: TEST-NET-1 (RFC 5737).
const UNUSED_ADDRESS: &str = "192.0.2.1";

/// Has `count` rules tried for packets to `service`: where the node forwards, or where it receives if the service is `on_node`.
pub(crate) fn install(node: &Node, service: SocketAddrV4, on_node: bool, count: u32) -> Result<(), Error> {
    let table = format!("{}-rules", node.owner.label());
    let hook = if on_node { "input" } else { "forward" };
    let rule = |chain: &str| format!("add rule ip {table} {chain} ip saddr {UNUSED_ADDRESS} drop\n");
    let jump = format!("add rule ip {table} planted jump again\n");
    let mut rules = vec![rule("again"); RULES_OF_CHAIN as usize];
    rules.extend(vec![jump; (count / RULES_OF_CHAIN) as usize]);
    rules.extend(vec![rule("planted"); (count % RULES_OF_CHAIN) as usize]);
    node.netns.run(|| {
        nftables::install(&format!("table ip {table} {{ chain again {{ }}; chain planted {{ }}; }}\n"))?;
        for some in rules.chunks(RULES_AT_ONCE) {
            nftables::install(&some.concat())?;
        }
        nftables::install(&format!(
            "table ip {table} {{ chain {hook} {{ type filter hook {hook} priority filter; \
             ip daddr {} tcp dport {} jump planted; }}; }}\n",
            service.ip(),
            service.port()
        ))
    })
}
