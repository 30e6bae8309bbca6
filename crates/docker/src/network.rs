//! The path between container and client for each kind of network: what must exist before the container, and what is created and
//! determined once it runs.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream},
    time::Duration,
};

use bollard::models::{ContainerInspectResponse, NetworkSettings};
use loadline_image::PORT;

use loadline_machine::{Environment, Netlink, Netns, Node, Owner, addresses::Subnet};
use loadline_model::platform::{Docker, DockerNetwork, Publish};
use loadline_platform::Service;

use crate::{
    client::Client, error::DockerError, macvlan, monitor::ContainerMonitor, request::Attachment,
    run_network::RunNetwork, userland_proxy,
};

/// Docker's own network, on which every container is that asks for no other.
const DEFAULT: &str = "bridge";
/// How long a container may take to answer a packet, with one retransmission (RFC 6298: after a second).
const PROBE_TIMEOUT: Duration = Duration::from_millis(2500);

/// Rejects options that cannot be combined.
pub(crate) fn check(docker: &Docker) -> Result<(), DockerError> {
    let network = docker.network;
    if docker.publish == Publish::UserlandProxy && network != DockerNetwork::Bridge {
        return Err(DockerError::NothingToPublish { network });
    }
    Ok(())
}

/// Creates what the container's network needs.
pub(crate) fn prepare(
    docker: &Docker,
    environment: &Environment,
    service: &Service,
    client: &Client,
    (owner, subnet): (&Owner, &Subnet),
) -> Result<Attachment, DockerError> {
    // A container has its own addresses and all ports.
    let alone = Attachment {
        network: String::new(),
        host: Ipv4Addr::UNSPECIFIED,
        port: service.port.unwrap_or(PORT),
        publish_at: None,
        address: None,
    };
    Ok(match docker.network {
        DockerNetwork::Bridge => {
            let network = match service.has_peers {
                true => environment.shared::<RunNetwork>().ensure(owner.run, client)?,
                false => DEFAULT.to_owned(),
            };
            let publish_at = match docker.publish {
                Publish::None => None,
                Publish::Port if !environment.has_wire() => {
                    Some(bridge_address(environment, client, &network)?)
                }
                Publish::Port | Publish::UserlandProxy => Some(environment.node_address()),
            };
            Attachment { network, publish_at, ..alone }
        }
        DockerNetwork::Host => {
            let listen = service.listen_on(&Node::shared(environment, owner, *subnet))?;
            Attachment { network: "host".to_owned(), host: *listen.ip(), port: listen.port(), ..alone }
        }
        DockerNetwork::Macvlan => {
            let network = macvlan::create(environment, client, owner, subnet)?;
            Attachment { network, address: Some(subnet.far), ..alone }
        }
        DockerNetwork::NoneWithWire => Attachment { network: "none".to_owned(), ..alone },
    })
}

/// Creates the rest for a running container, and returns where the client connects.
pub(crate) fn connect(
    docker: &Docker,
    environment: &Environment,
    (owner, subnet): (&Owner, &Subnet),
    attachment: &Attachment,
    inspected: &ContainerInspectResponse,
    monitor: &ContainerMonitor,
) -> Result<SocketAddrV4, DockerError> {
    let settings = inspected.network_settings.as_ref();
    let not_reported =
        |what| DockerError::NotReported { what, network: docker.network, publish: docker.publish };
    match (docker.network, docker.publish) {
        (DockerNetwork::Bridge, Publish::None) => {
            let ip = own_address(settings).ok_or_else(|| not_reported("the address"))?;
            let address = SocketAddrV4::new(ip, attachment.port);
            probe(environment.client(), address)?;
            Ok(address)
        }
        (DockerNetwork::Bridge, publish) => {
            let port = published_port(settings, attachment.port)
                .ok_or_else(|| not_reported("the published port"))?;
            let at = attachment.publish_at.unwrap_or(environment.node_address());
            let published = SocketAddrV4::new(at, port);
            if publish == Publish::UserlandProxy {
                userland_proxy::redirect_to_proxy(environment, owner, published)?;
            }
            Ok(published)
        }
        (DockerNetwork::Host, _) => Ok(SocketAddrV4::new(attachment.host, attachment.port)),
        (DockerNetwork::Macvlan, _) => Ok(SocketAddrV4::new(subnet.far, attachment.port)),
        (DockerNetwork::NoneWithWire, _) => {
            let pid = monitor.pid().ok_or(DockerError::NoProcess { network: docker.network })?;
            let node = Node::shared(environment, owner, *subnet);
            node.join(&Netns::of_process(pid)?, None, None)?;
            Ok(SocketAddrV4::new(subnet.far, attachment.port))
        }
    }
}

/// Where others on the container's network connect; `None` where that is where the client does.
pub(crate) fn peer_address(
    docker: &Docker,
    attachment: &Attachment,
    inspected: &ContainerInspectResponse,
) -> Option<SocketAddrV4> {
    let on_bridge = docker.network == DockerNetwork::Bridge;
    let own = on_bridge.then(|| own_address(inspected.network_settings.as_ref()))??;
    Some(SocketAddrV4::new(own, attachment.port))
}

/// The node's address on the bridge of a network: the kernel translates a port published there for a client on the node too, while
/// docker-proxy handles one on loopback; and it is unreachable from outside. Loopback where the node has no such address, as with Podman.
fn bridge_address(
    environment: &Environment,
    client: &Client,
    network: &str,
) -> Result<Ipv4Addr, DockerError> {
    let found = client.find("inspect Docker's bridge", |api| api.inspect_network(network, None))?;
    let pools = found.and_then(|network| network.ipam?.config).unwrap_or_default();
    let subnets: Vec<(u32, u32)> = pools.into_iter().filter_map(|pool| subnet(&pool.subnet?)).collect();
    let own = environment.node().with_netlink(async |net: &Netlink| net.addresses().await)?;
    let on_bridge = own.into_iter().find_map(|address| match address {
        IpAddr::V4(ip) if subnets.iter().any(|(network, mask)| ip.to_bits() & mask == *network) => Some(ip),
        _ => None,
    });
    Ok(on_bridge.unwrap_or(Ipv4Addr::LOCALHOST))
}

/// Network and mask of `172.17.0.0/16`.
fn subnet(text: &str) -> Option<(u32, u32)> {
    let (network, prefix) = text.split_once('/')?;
    let bits = 32u32.checked_sub(prefix.parse().ok()?)?;
    let mask = u32::MAX.checked_shl(bits).unwrap_or(0);
    Some((network.parse::<Ipv4Addr>().ok()?.to_bits() & mask, mask))
}

/// The container's address in its one network; Podman's bridge has another name than Docker's.
fn own_address(settings: Option<&NetworkSettings>) -> Option<Ipv4Addr> {
    let networks = settings?.networks.as_ref()?;
    networks.values().find_map(|network| network.ip_address.as_ref()?.parse().ok())
}

fn published_port(settings: Option<&NetworkSettings>, port: u16) -> Option<u16> {
    let bindings = settings?.ports.as_ref()?.get(&format!("{port}/tcp"))?.as_ref()?;
    bindings.iter().find_map(|binding| binding.host_port.as_ref()?.parse().ok())
}

/// Checks that packets of the client reach the container: a refused connection is an answer, a timeout is not.
fn probe(client: &Netns, address: SocketAddrV4) -> Result<(), DockerError> {
    let connect = || TcpStream::connect_timeout(&SocketAddr::V4(address), PROBE_TIMEOUT);
    match client.run(|| Ok(connect()))? {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => {
            Err(DockerError::NoDirectAccess { address, reason: error.to_string() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_is_network_and_mask() {
        assert_eq!(subnet("172.17.0.0/16"), Some((0xac11_0000, 0xffff_0000)));
        assert_eq!(subnet("0.0.0.0/0"), Some((0, 0)));
        assert_eq!(subnet("fd00::/64"), None);
        assert_eq!(subnet("10.0.0.0/33"), None);
    }
}
