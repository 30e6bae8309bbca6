//! The bytes of one connection: a TCP or Unix socket, with TLS or without, that never blocks.

mod tls;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use loadline_model::load::Timestamps;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};

use crate::clock::{self, Nanos, now};
use crate::sys;
use tls::Session;
pub use tls::{Tls, TlsError, read_tls_files};

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Nothing yet; an event tells when there is more.
    Nothing,
    /// The peer ended its side.
    End,
    /// This many bytes at the start of the buffer, which came at `at`. `more` says that there may be others already.
    Bytes { count: usize, more: bool, at: Nanos },
}

/// An open connection's socket and what belongs to its bytes.
#[derive(Debug)]
pub struct Transport {
    socket: OwnedFd,
    session: Option<Box<Session>>,
    timestamps: Timestamps,
    /// What the socket did not take yet; empty but for requests larger than its buffer.
    unsent: Vec<u8>,
}

impl Transport {
    /// The bytes of a socket that is being connected, in a TLS session if there is to be one.
    pub fn over(socket: OwnedFd, tls: Option<&Tls>, timestamps: Timestamps) -> io::Result<Transport> {
        let session = tls.map(Session::new).transpose()?.map(Box::new);
        Ok(Transport { socket, session, timestamps, unsent: Vec::new() })
    }

    /// How the handshake of TCP ended.
    pub fn connect_result(&self) -> io::Result<()> {
        Ok(sockopt::socket_error(&self.socket)??)
    }

    /// Whether TLS comes next.
    pub fn needs_handshake(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_handshaking())
    }

    /// Goes on with the handshake of TLS; `true` when it is over.
    pub fn handshake(&mut self) -> io::Result<bool> {
        match &mut self.session {
            Some(session) => session.handshake(&mut Plain::new(self.socket.as_fd(), self.timestamps)),
            None => Ok(true),
        }
    }

    /// Sends `bytes`, or keeps what the socket does not take for [`Transport::flush`]. `true` when all that was given is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if let Some(session) = &mut self.session {
            return session.send(bytes, &mut Plain::new(self.socket.as_fd(), self.timestamps));
        }
        let mut taken = 0;
        if self.unsent.is_empty() {
            taken = send_some(&self.socket, bytes)?;
            if taken == bytes.len() {
                return Ok(true);
            }
        }
        self.unsent.extend_from_slice(&bytes[taken..]);
        Ok(false)
    }

    /// When the kernel transmitted what was sent last, if it is asked for that and has done so: over loopback, veth and an idle
    /// device that is before sending returns.
    pub fn transmitted(&self) -> Option<Nanos> {
        match self.timestamps {
            Timestamps::User => None,
            Timestamps::Kernel => sys::transmitted(self.socket.as_fd()).map(clock::from_realtime),
        }
    }

    /// Goes on sending what was kept; `true` when nothing is left.
    pub fn flush(&mut self) -> io::Result<bool> {
        if let Some(session) = &mut self.session {
            return session.flush(&mut Plain::new(self.socket.as_fd(), self.timestamps));
        }
        if !self.unsent.is_empty() {
            let taken = send_some(&self.socket, &self.unsent)?;
            self.unsent.drain(..taken);
        }
        Ok(self.unsent.is_empty())
    }

    /// Whether everything that was given is gone.
    pub fn is_flushed(&self) -> bool {
        self.unsent.is_empty() && self.session.as_ref().is_none_or(|session| session.is_flushed())
    }

    /// Reads what is there into `buffer`.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        let mut plain = Plain::new(self.socket.as_fd(), self.timestamps);
        match &mut self.session {
            None => plain.receive(buffer),
            Some(session) => session.receive(&mut plain, buffer),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Writes until the socket takes no more; how much it took.
fn send_some(socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let mut taken = 0;
    while taken < bytes.len() {
        match rustix::net::send(socket, &bytes[taken..], SendFlags::NOSIGNAL) {
            Ok(count) => taken += count,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(taken)
}

/// The socket itself, as TLS and plain connections read and write it.
struct Plain<'a> {
    socket: BorrowedFd<'a>,
    timestamps: Timestamps,
    /// When the last bytes came.
    at: Nanos,
}

impl<'a> Plain<'a> {
    fn new(socket: BorrowedFd<'a>, timestamps: Timestamps) -> Plain<'a> {
        Plain { socket, timestamps, at: 0 }
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        loop {
            let result = match self.timestamps {
                Timestamps::User => rustix::net::recv(self.socket, &mut *buffer, RecvFlags::empty())
                    .map(|(_, count)| (count, now())),
                Timestamps::Kernel => sys::receive_stamped(self.socket, buffer)
                    .map(|(count, stamp)| (count, stamp.map_or_else(now, clock::from_realtime)))
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            };
            return match result {
                Ok((0, _)) => Ok(Received::End),
                Ok((count, at)) => {
                    self.at = at;
                    Ok(Received::Bytes { count, more: count == buffer.len(), at })
                }
                Err(Errno::AGAIN) => Ok(Received::Nothing),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }
}

impl io::Read for Plain<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.receive(buffer)? {
            Received::Nothing => Err(io::ErrorKind::WouldBlock.into()),
            Received::End => Ok(0),
            Received::Bytes { count, .. } => Ok(count),
        }
    }
}

impl io::Write for Plain<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.socket, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
