//! The layer `nodeport`: from a port of the node to the pod through the rules that kube-proxy writes, among those of
//! other services. The connection is masqueraded, as kube-proxy must since the pod may be on another node.

mod iptables;
mod nftables;

use std::net::SocketAddrV4;

use loadline_machine::Error;

use super::{Backend, ExposedPort};

/// The mark of packets to be masqueraded: kube-proxy's default, bit 14 (`--iptables-masquerade-bit`).
const MASQUERADE_MARK: &str = "0x4000";
/// The port of the dummy services' pods.
const DUMMY_SERVICE_PORT: u16 = 8080;

/// A service in the rules: its cluster address and its one endpoint.
struct Service {
    cluster: SocketAddrV4,
    endpoint: SocketAddrV4,
}

/// Installs the rules, the deployment's service as the last of `services`.
pub(crate) fn install(exposed: &ExposedPort, backend: Backend, services: u32) -> Result<(), Error> {
    let service = |index| {
        let cluster = exposed.node.block.dummy_service(index);
        let endpoint = SocketAddrV4::new(*cluster.ip(), DUMMY_SERVICE_PORT);
        Service { cluster, endpoint: if index + 1 == services { exposed.pod } else { endpoint } }
    };
    let services: Vec<Service> = (0..services).map(service).collect();
    exposed.node.netns.run(|| match backend {
        Backend::Iptables => loadline_machine::iptables::install(&iptables::rules(exposed, &services)),
        Backend::Nftables => loadline_machine::nftables::install(&nftables::rules(exposed, &services)),
    })
}
