//! The layer `conntrack`: the node tracks connections, and does nothing else with them.
//! The kernel tracks them in a namespace from the first rule that asks for a connection's state (net/netfilter/nft_ct.c).

use loadline_machine::{Error, Node, nftables};

use super::{Layer, unavailable::unavailable};
use crate::error::LocalError;

/// Installs the first rule of a stateful firewall: accept what belongs to a connection, in each direction.
pub(crate) fn install(node: &Node) -> Result<(), LocalError> {
    let table = format!("{}-conntrack", node.owner.label());
    node.netns.run(|| nftables::install(&rules(&table))).map_err(|error| match error {
        Error::Tool { message, .. } => unavailable(
            &Layer::Conntrack,
            format!("the kernel cannot track connections for nftables (CONFIG_NF_CONNTRACK, CONFIG_NFT_CT): {message}"),
        ),
        error => error.into(),
    })
}

fn rules(table: &str) -> String {
    let chain = |hook: &str| {
        format!(
            "chain {hook} {{ type filter hook {hook} priority filter; ct state established,related accept; }}\n"
        )
    };
    let chains: String = ["input", "forward", "output"].map(chain).concat();
    format!("table ip {table} {{\n{chains}}}\n")
}
