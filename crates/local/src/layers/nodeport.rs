//! The layer `nodeport`: from a port of the node to the pod through the rules that kube-proxy writes, among those of
//! other services. The connection is masqueraded, as kube-proxy must since the pod may be on another node.

mod iptables;
mod nftables;

use std::net::SocketAddrV4;

use loadline_machine::Error;

use super::{Backend, Entrance};

/// The mark of packets to be masqueraded: kube-proxy's default, bit 14 (`--iptables-masquerade-bit`).
const MASQUERADE_MARK: &str = "0x4000";
/// Where stand-in services claim to have their pods listen.
const STAND_IN_PORT: u16 = 8080;

/// A service in the rules: its cluster address and its one endpoint.
struct Service {
    cluster: SocketAddrV4,
    endpoint: SocketAddrV4,
}

/// Installs the rules, the deployment's service as the last of `services`.
pub(crate) fn lay(entrance: &Entrance, backend: Backend, services: u32) -> Result<(), Error> {
    let service = |index| {
        let cluster = entrance.node.block.stand_in(index);
        let endpoint = SocketAddrV4::new(*cluster.ip(), STAND_IN_PORT);
        Service { cluster, endpoint: if index + 1 == services { entrance.pod } else { endpoint } }
    };
    let services: Vec<Service> = (0..services).map(service).collect();
    entrance.node.netns.run(|| match backend {
        Backend::Iptables => loadline_machine::iptables::install(&iptables::rules(entrance, &services)),
        Backend::Nftables => loadline_machine::nftables::install(&nftables::rules(entrance, &services)),
    })
}
