//! Looking names up without stopping the load: one thread beside a worker asks the system, and tells the worker's epoll.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};

/// The answer for one connection.
pub struct Found {
    /// Which connection asked.
    pub index: usize,
    /// The first address of the family that was asked for, or of any other.
    pub address: io::Result<SocketAddr>,
}

/// Looks up one name, again and again. Its thread ends with it.
#[derive(Debug)]
pub struct Resolver {
    questions: Sender<usize>,
    answers: Receiver<Found>,
    wake: Arc<OwnedFd>,
}

impl Resolver {
    /// A resolver of `host`, in the network namespace of the calling thread (a new thread inherits it, clone(2)).
    pub fn start(host: String, port: u16) -> io::Result<Resolver> {
        let (questions, inbox) = channel();
        let (outbox, answers) = channel();
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let bell = wake.clone();
        std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
            while let Ok(index) = inbox.recv() {
                let address = look_up(&host, port);
                if outbox.send(Found { index, address }).is_err() {
                    return;
                }
                // It can only fail when the counter is about to overflow: then the worker is being woken already.
                let _ = rustix::io::write(&*bell, &1_u64.to_ne_bytes());
            }
        })?;
        Ok(Resolver { questions, answers, wake })
    }

    /// Asks for the address for a connection.
    pub fn ask(&self, index: usize) -> io::Result<()> {
        self.questions.send(index).map_err(|_| io::Error::other("the resolver's thread is gone"))
    }

    /// The next answer, if there is one.
    pub fn answer(&self) -> Option<Found> {
        self.answers.try_recv().ok()
    }
}

impl AsFd for Resolver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

fn look_up(host: &str, port: u16) -> io::Result<SocketAddr> {
    let mut addresses = (host, port).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}
