//! What a conversation goes over: any stream of bytes on which waiting can be limited.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A byte stream to an agent.
pub trait Stream: Read + Write + Send {
    /// Lets a read that waits longer than this fail with [`io::ErrorKind::WouldBlock`] or [`io::ErrorKind::TimedOut`]; not zero.
    fn limit_reads(&self, timeout: Duration) -> io::Result<()>;

    /// The same for writes.
    fn limit_writes(&self, timeout: Duration) -> io::Result<()>;
}

impl Stream for UnixStream {
    fn limit_reads(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout))
    }

    fn limit_writes(&self, timeout: Duration) -> io::Result<()> {
        self.set_write_timeout(Some(timeout))
    }
}

impl Stream for TcpStream {
    fn limit_reads(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout))
    }

    fn limit_writes(&self, timeout: Duration) -> io::Result<()> {
        self.set_write_timeout(Some(timeout))
    }
}
