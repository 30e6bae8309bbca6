//! The result of ADD, as far as it is needed: the pod's address and the node's link to it (CNI specification, section 5, "ADD
//! Success").

use std::net::Ipv4Addr;

use serde::Deserialize;
use serde_json::Value;

/// What was created for the pod.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Added {
    pub address: Ipv4Addr,
    /// The prefix length of its network, in bits.
    pub prefix: u8,
    /// The first link on the node that the plugins name, which is the bridge if there is one.
    pub node_link: Option<String>,
}

#[derive(Deserialize)]
struct Success {
    #[serde(default)]
    interfaces: Vec<Interface>,
    #[serde(default)]
    ips: Vec<Ip>,
}

#[derive(Deserialize)]
struct Interface {
    #[serde(default)]
    name: String,
    /// The namespace that it is in; none or an empty one is the node's.
    #[serde(default)]
    sandbox: String,
}

#[derive(Deserialize)]
struct Ip {
    /// With its prefix length: `10.1.2.3/24`.
    address: String,
    /// Index of its interface.
    interface: Option<usize>,
}

/// The first IPv4 address that is not one of the node's, and the link to it.
pub(super) fn added(result: &Value) -> Option<Added> {
    let Success { interfaces, ips } = Success::deserialize(result).ok()?;
    let of_pod = |ip: &&Ip| {
        let interface = ip.interface.and_then(|index| interfaces.get(index));
        interface.is_none_or(|interface| !interface.sandbox.is_empty())
    };
    let (address, prefix) = ips.iter().filter(of_pod).find_map(|ip| {
        let (address, prefix) = ip.address.split_once('/')?;
        Some((address.parse().ok()?, prefix.parse().ok()?))
    })?;
    let on_node =
        interfaces.into_iter().find(|interface| interface.sandbox.is_empty() && !interface.name.is_empty());
    Some(Added { address, prefix, node_link: on_node.map(|interface| interface.name) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_pods_address_is_distinguished_from_the_nodes_and_from_ipv6() {
        let result = json!({
            "cniVersion": "1.0.0",
            "interfaces": [{"name": "cni0", "mac": "00:00:00:00:00:01"}, {"name": "eth0", "sandbox": "/proc/1/fd/3"}],
            "ips": [
                {"address": "10.1.0.1/24", "interface": 0},
                {"address": "fd00::2/64", "interface": 1},
                {"address": "10.1.0.2/24", "gateway": "10.1.0.1", "interface": 1},
            ],
        });
        let expected =
            Added { address: Ipv4Addr::new(10, 1, 0, 2), prefix: 24, node_link: Some("cni0".to_owned()) };
        assert_eq!(added(&result), Some(expected));
    }

    #[test]
    fn an_address_without_an_interface_is_the_pods() {
        let result = json!({"ips": [{"version": "4", "address": "10.1.0.2/16"}]});
        let expected = Added { address: Ipv4Addr::new(10, 1, 0, 2), prefix: 16, node_link: None };
        assert_eq!(added(&result), Some(expected));
        assert_eq!(added(&json!({"dns": {}})), None);
    }
}
