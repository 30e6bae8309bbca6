//! One connection: its socket, where its request and response stand, and the times that belong to them.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sockopt};

use crate::clock::Nanos;
use crate::endpoint::Endpoint;
use crate::http1::ResponseParser;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no socket; another attempt is due at `retry_at`.
    Closed,
    /// The handshake is under way.
    Connecting,
    /// Ready for a request.
    Idle,
    /// A request was begun and its response is not complete.
    Busy,
}

/// One connection of a worker, reused over reconnects.
#[derive(Debug)]
pub struct Connection {
    pub socket: Option<OwnedFd>,
    pub state: State,
    pub parser: ResponseParser,
    /// Which request of the mix is under way.
    pub request: usize,
    /// How much of it was written.
    pub written_bytes: usize,
    /// When the request under way was due.
    pub due: Nanos,
    /// When it was written, or the handshake begun.
    pub since: Nanos,
    /// When the connection last became idle.
    pub free_since: Nanos,
    /// When to connect again after a failure.
    pub retry_at: Nanos,
}

impl Connection {
    pub fn new() -> Connection {
        Connection {
            socket: None,
            state: State::Closed,
            parser: ResponseParser::default(),
            request: 0,
            written_bytes: 0,
            due: 0,
            since: 0,
            free_since: 0,
            retry_at: 0,
        }
    }

    /// Begins the handshake; the socket becomes writable when it is over.
    pub fn open(&mut self, endpoint: &Endpoint, now: Nanos) -> io::Result<()> {
        let family = if endpoint.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &endpoint.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        self.socket = Some(socket);
        self.state = State::Connecting;
        self.since = now;
        self.parser.reset();
        Ok(())
    }

    /// Closes the socket, which also ends its registration with epoll (epoll(7), question 6).
    pub fn close(&mut self) {
        self.socket = None;
        self.state = State::Closed;
    }

    /// How the handshake ended.
    pub fn handshake_result(&self) -> io::Result<()> {
        match &self.socket {
            Some(socket) => Ok(sockopt::socket_error(socket)??),
            None => Err(Errno::NOTCONN.into()),
        }
    }

    /// Writes what is left of `request`; `true` when all of it is written.
    pub fn write(&mut self, request: &[u8]) -> io::Result<bool> {
        let Some(socket) = &self.socket else { return Err(Errno::NOTCONN.into()) };
        while self.written_bytes < request.len() {
            match rustix::net::send(socket, &request[self.written_bytes..], SendFlags::NOSIGNAL) {
                Ok(count) => self.written_bytes += count,
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Reads once; `None` when there is nothing yet, `Some(0)` when the peer closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(socket) = &self.socket else { return Ok(None) };
        loop {
            match rustix::io::read(socket, &mut *buffer) {
                Ok(count) => return Ok(Some(count)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
