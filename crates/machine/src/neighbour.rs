//! Network namespaces beside ours: those that somebody has given a name (`ip-netns(8)`).

use std::{fs, net::IpAddr};

use crate::{error::Error, netlink::Netlink, netns::Netns};

/// Where `ip netns add` keeps them.
const NAMED: &str = "/run/netns";

/// The network namespace with a name that has this address. Those that this user may not enter are passed over.
pub fn neighbour(address: IpAddr) -> Option<Netns> {
    let named = fs::read_dir(NAMED).ok()?.filter_map(|entry| Netns::at(&entry.ok()?.path()).ok());
    named.into_iter().find(|network| has(network, address).unwrap_or(false))
}

fn has(network: &Netns, address: IpAddr) -> Result<bool, Error> {
    Ok(network.with_netlink(async |net: &Netlink| net.addresses().await)?.contains(&address))
}
