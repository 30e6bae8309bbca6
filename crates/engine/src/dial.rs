//! Opening a connection: the socket with its options, the source address, and the TLS session that will follow.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use loadline_model::load::Timestamps;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::endpoint::{Endpoint, Target};
use crate::sys;
use crate::transport::Transport;

/// Opens connections to one endpoint.
#[derive(Debug)]
pub struct Dialer {
    endpoint: Endpoint,
    timestamps: Timestamps,
}

impl Dialer {
    pub fn new(endpoint: Endpoint, timestamps: Timestamps) -> Dialer {
        Dialer { endpoint, timestamps }
    }

    /// The name that has to be looked up before every connection, with its port.
    pub fn name(&self) -> Option<(&str, u16)> {
        match &self.endpoint.target {
            Target::Name(host, port) => Some((host, *port)),
            Target::Address(_) | Target::Unix(_) => None,
        }
    }

    /// Begins the handshake; the socket becomes writable when it is over. `found` is the address of a target that has a name.
    pub fn dial(&self, found: Option<SocketAddr>) -> io::Result<Transport> {
        let socket = match (&self.endpoint.target, found) {
            (Target::Unix(path), _) => {
                let socket = open(AddressFamily::UNIX)?;
                begin(rustix::net::connect(&socket, &SocketAddrUnix::new(path)?))?;
                socket
            }
            (Target::Address(address), _) => self.dial_tcp(address)?,
            (Target::Name(..), Some(address)) => self.dial_tcp(&address)?,
            (Target::Name(..), None) => return Err(io::ErrorKind::AddrNotAvailable.into()),
        };
        // A Unix socket has no packets to stamp.
        let is_unix = matches!(self.endpoint.target, Target::Unix(_));
        let timestamps = if is_unix { Timestamps::User } else { self.timestamps };
        Transport::over(socket, self.endpoint.tls.as_ref(), timestamps)
    }

    fn dial_tcp(&self, address: &SocketAddr) -> io::Result<OwnedFd> {
        let socket = open(if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        if self.timestamps == Timestamps::Kernel {
            sys::stamp(socket.as_fd())?;
        }
        if let Some(interface) = &self.endpoint.interface {
            sys::bind_to_interface(socket.as_fd(), interface)
                .map_err(|error| explained(error, &format!("cannot use the interface {interface}")))?;
        }
        if let Some(source) = self.endpoint.source {
            sys::bind_without_port(socket.as_fd())?;
            rustix::net::bind(&socket, &SocketAddr::new(source, 0)).map_err(|error| {
                explained(error.into(), &format!("cannot use the source address {source}"))
            })?;
        }
        begin(rustix::net::connect(&socket, address))?;
        Ok(socket)
    }
}

fn open(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?)
}

fn begin(connect: Result<(), Errno>) -> io::Result<()> {
    match connect {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn explained(error: io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
