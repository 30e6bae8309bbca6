//! The container's way to the client, network by network: what has to be there before the container, and what is laid
//! and found out once it runs.

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream},
    time::Duration,
};

use bollard::models::{ContainerInspectResponse, NetworkSettings};
use loadline_image::PORT;

use super::{
    Docker, DockerError, DockerNetwork, Publish, client::Client, macvlan, request::Attachment,
    userland_proxy, watch::Watch,
};
use crate::{
    Error, Ground, Netns, Service, addresses::Subnet, layers::veth, local::listen_on_node, owner::Owner,
};

/// How long a packet to a container may take to be answered, with one repetition (RFC 6298: after a second).
const PROBE_PATIENCE: Duration = Duration::from_millis(2500);

/// Refuses what doesn't go together.
pub(super) fn check(docker: &Docker) -> Result<(), DockerError> {
    let network = docker.network;
    if docker.publish == Publish::UserlandProxy && network != DockerNetwork::Bridge {
        return Err(DockerError::NothingToPublish { network });
    }
    Ok(())
}

/// Lays what the container's network needs.
pub(super) fn prepare(
    docker: &Docker,
    ground: &Ground,
    service: &Service,
    client: &Client,
    (owner, subnet): (&Owner, &Subnet),
) -> Result<Attachment, Error> {
    // A container has all its addresses and ports to itself.
    let alone = Attachment {
        network: String::new(),
        host: Ipv4Addr::UNSPECIFIED,
        port: service.port.unwrap_or(PORT),
        publish_at: None,
        address: None,
    };
    Ok(match docker.network {
        DockerNetwork::Bridge => {
            let publish_at = (docker.publish != Publish::None).then(|| ground.node_address());
            Attachment { network: "bridge".to_owned(), publish_at, ..alone }
        }
        DockerNetwork::Host => {
            let listen = listen_on_node(ground, service)?;
            Attachment { network: "host".to_owned(), host: *listen.ip(), port: listen.port(), ..alone }
        }
        DockerNetwork::Macvlan => {
            let network = macvlan::lay(ground, client, owner, subnet)?;
            Attachment { network, address: Some(subnet.far), ..alone }
        }
        DockerNetwork::NoneWithWire => Attachment { network: "none".to_owned(), ..alone },
    })
}

/// Lays the rest for a container that runs, and says where the client connects.
pub(super) fn join(
    docker: &Docker,
    ground: &Ground,
    (owner, subnet): (&Owner, &Subnet),
    attachment: &Attachment,
    inspected: &ContainerInspectResponse,
    watch: &Watch,
) -> Result<SocketAddrV4, Error> {
    let settings = inspected.network_settings.as_ref();
    let not_said = |what| DockerError::NotSaid { what, network: docker.network, publish: docker.publish };
    match (docker.network, docker.publish) {
        (DockerNetwork::Bridge, Publish::None) => {
            let ip = own_address(settings).ok_or_else(|| not_said("the address"))?;
            let address = SocketAddrV4::new(ip, attachment.port);
            probe(ground.client(), address)?;
            Ok(address)
        }
        (DockerNetwork::Bridge, publish) => {
            let port =
                published_port(settings, attachment.port).ok_or_else(|| not_said("the published port"))?;
            let published = SocketAddrV4::new(ground.node_address(), port);
            if publish == Publish::UserlandProxy {
                userland_proxy::lead_to(ground, owner, published)?;
            }
            Ok(published)
        }
        (DockerNetwork::Host, _) => Ok(SocketAddrV4::new(attachment.host, attachment.port)),
        (DockerNetwork::Macvlan, _) => Ok(SocketAddrV4::new(subnet.far, attachment.port)),
        (DockerNetwork::NoneWithWire, _) => {
            let pid = watch.pid().ok_or(DockerError::NoProcess { network: docker.network })?;
            veth::join(ground, owner, subnet, &Netns::of_process(pid)?, None)?;
            Ok(SocketAddrV4::new(subnet.far, attachment.port))
        }
    }
}

/// The container's address in its one network; Podman calls its bridge otherwise than Docker.
fn own_address(settings: Option<&NetworkSettings>) -> Option<Ipv4Addr> {
    let networks = settings?.networks.as_ref()?;
    networks.values().find_map(|network| network.ip_address.as_ref()?.parse().ok())
}

fn published_port(settings: Option<&NetworkSettings>, port: u16) -> Option<u16> {
    let bindings = settings?.ports.as_ref()?.get(&format!("{port}/tcp"))?.as_ref()?;
    bindings.iter().find_map(|binding| binding.host_port.as_ref()?.parse().ok())
}

/// Whether packets of the client get to the container at all: a refusal is an answer, silence is none.
fn probe(client: &Netns, address: SocketAddrV4) -> Result<(), Error> {
    client.run(|| match TcpStream::connect_timeout(&SocketAddr::V4(address), PROBE_PATIENCE) {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => {
            Err(DockerError::NoDirectAccess { address, reason: error.to_string() }.into())
        }
        _ => Ok(()),
    })
}
