//! Where the service is and how to get there: address, source, TLS, and the authority that requests name.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::transport::Tls;

/// The service as the client sees it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where to connect.
    pub target: Target,
    /// Value of the `Host` header, or of `:authority`.
    pub authority: String,
    /// TLS, unless the service speaks plain text.
    pub tls: Option<Tls>,
    /// Local address to connect from.
    pub source: Option<IpAddr>,
    /// Network interface to connect through.
    pub interface: Option<String>,
}

/// Where to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address and a TCP port.
    Address(SocketAddr),
    /// A name that is looked up for every connection, and a TCP port.
    Name(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Address(address) => write!(f, "{address}"),
            Target::Name(host, port) => write!(f, "{host}:{port}"),
            Target::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint {
            target: Target::Address(address),
            authority: address.to_string(),
            tls: None,
            source: None,
            interface: None,
        }
    }
}

impl Endpoint {
    /// The host that the authority names: without its port, and an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        let authority = self.authority.as_str();
        match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
        }
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
