//! Finding free ports on a node, each handed out only once.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener},
    ops::RangeInclusive,
    sync::{Mutex, PoisonError},
};

use crate::{
    error::{Error, ErrorContext},
    netns::Netns,
    owner::Owner,
};

/// The default `--service-node-port-range` of Kubernetes.
const NODE_PORTS: RangeInclusive<u16> = 30_000..=32_767;
/// Below that range, and below the ephemeral ports of kernels.
const HOST_PORTS: RangeInclusive<u16> = 20_000..=29_999;

/// Ports handed out on one node.
#[derive(Default)]
pub struct Ports(Mutex<HashSet<u16>>);

impl Ports {
    /// A port of the range in which clusters have their node ports, on which nothing listens at any address. The search starts at a
    /// different port for each owner, so that concurrent runs rarely collide.
    ///
    /// # Errors
    /// When no port is free.
    pub fn node_port(&self, node: &Netns, owner: &Owner) -> Result<u16, Error> {
        self.free_port(NODE_PORTS, node, start(owner))
    }

    /// A port for a service on a node's own network: free here, and probably on other nodes as well.
    ///
    /// # Errors
    /// When no port is free.
    pub fn host_port(&self, node: &Netns, owner: &Owner) -> Result<u16, Error> {
        self.free_port(HOST_PORTS, node, start(owner))
    }

    fn free_port(&self, range: RangeInclusive<u16>, node: &Netns, start: u32) -> Result<u16, Error> {
        let (first, last) = (*range.start(), *range.end());
        let count = u32::from(last - first) + 1;
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: &mut HashSet<u16> = &mut guard;
        node.run(|| {
            let free = |port: &u16| !taken.contains(port) && can_listen(Ipv4Addr::UNSPECIFIED, *port);
            let port = (0..count).map(|i| first + ((start + i) % count) as u16).find(free);
            let port = port.ok_or(Error::NoPortLeft { first, last })?;
            taken.insert(port);
            Ok(port)
        })
    }

    /// A port for a service that listens on `host` itself.
    pub fn listening_port(&self, node: &Netns, host: Ipv4Addr) -> Result<u16, Error> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: &mut HashSet<u16> = &mut guard;
        node.run(|| {
            loop {
                // The kernel picks one of net.ipv4.ip_local_port_range.
                let listener =
                    TcpListener::bind((host, 0)).with_context(|| format!("find a free port on {host}"))?;
                let port = listener.local_addr().with_context(|| "read a socket's address")?.port();
                if taken.insert(port) {
                    return Ok(port);
                }
            }
        })
    }
}

/// Where in a range the search starts: different for each run and deployment.
fn start(owner: &Owner) -> u32 {
    let mut hasher = DefaultHasher::new();
    (owner.run, owner.slot).hash(&mut hasher);
    hasher.finish() as u32 >> 1
}

/// Rejects a port on which the service could not listen.
pub fn check_free(node: &Netns, host: Ipv4Addr, port: u16) -> Result<(), Error> {
    let free = node.run(|| Ok(can_listen(host, port)))?;
    let address = SocketAddr::V4(SocketAddrV4::new(host, port));
    if free { Ok(()) } else { Err(Error::PortInUse { address }) }
}

fn can_listen(host: Ipv4Addr, port: u16) -> bool {
    TcpListener::bind((host, port)).is_ok()
}
