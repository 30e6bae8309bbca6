//! Looking names up without stopping the load: one thread beside a worker asks the system, and tells the worker's epoll.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

/// Longest attempt to reach an address before another is tried.
const TRIAL: Duration = Duration::from_secs(1);

/// The answer for one connection.
pub struct Found {
    /// Which connection asked.
    pub index: usize,
    /// Where to connect.
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
            let mut is_ipv4 = None;
            while let Ok(index) = inbox.recv() {
                let address = look_up(&host, port, &mut is_ipv4);
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
        self.questions.send(index).map_err(|_| io::Error::other("the resolver thread ended"))
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

/// The first address of the family by which the service was reached. Of a name that has both, `localhost` often, a service may
/// listen on one alone, so the first time each address is tried.
pub fn look_up(host: &str, port: u16, is_ipv4: &mut Option<bool>) -> io::Result<SocketAddr> {
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    if addresses.len() > 1 && is_ipv4.is_none() {
        let reached = addresses.iter().find(|address| TcpStream::connect_timeout(address, TRIAL).is_ok());
        *is_ipv4 = reached.map(SocketAddr::is_ipv4);
    }
    let of_family =
        addresses.iter().find(|address| is_ipv4.is_none_or(|is_ipv4| address.is_ipv4() == is_ipv4));
    let address = of_family.or(addresses.first()).copied();
    address.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}
