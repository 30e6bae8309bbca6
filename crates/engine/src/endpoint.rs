//! Where the service is: an address to connect to and the authority that requests name.

use std::net::SocketAddr;

/// The service as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Where to connect.
    pub address: SocketAddr,
    /// Value of the `Host` header.
    pub authority: String,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { address, authority: address.to_string() }
    }
}
