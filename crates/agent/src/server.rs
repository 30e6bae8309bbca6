//! The agent: takes conversations on a port, each in a thread of its own, until it is told to end.
//! It sleeps in the kernel while nothing is asked, so that it disturbs no measurement beside it.

mod conversation;
mod engine;
mod observer;

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

pub use observer::{Containers, Observed, ThisMachine};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// How many conversations an agent has at a time.
pub const MOST_CONVERSATIONS: usize = 64;

/// How long to wait for files to become free when there is none left for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Waiting for connections failed.
    #[error("cannot wait for connections: {0}")]
    Wait(#[source] io::Error),
    /// Taking a connection failed.
    #[error("cannot accept a connection: {0}")]
    Accept(#[source] io::Error),
}

/// Is the agent at `listener`, until `end` can be read from; whatever is under way then is stopped.
///
/// It obeys whoever can connect, so it belongs on a loopback address, where a port-forward reaches it.
///
/// # Errors
/// Only when the listener breaks. What is wrong with a conversation ends that conversation.
pub fn serve(listener: &TcpListener, end: impl AsFd) -> Result<(), ServeError> {
    serve_containers(listener, end, Arc::new(ThisMachine))
}

/// As [`serve`], for containers that need not be on this machine.
///
/// # Errors
/// As [`serve`].
pub fn serve_containers(
    listener: &TcpListener,
    end: impl AsFd,
    containers: Arc<dyn Containers>,
) -> Result<(), ServeError> {
    // A connection may be gone again between being told of and being taken.
    listener.set_nonblocking(true).map_err(ServeError::Wait)?;
    let mut conversations = Conversations { containers, under_way: Vec::new() };
    while !wait(listener.as_fd(), end.as_fd()).map_err(ServeError::Wait)? {
        match listener.accept() {
            Ok((stream, _)) => conversations.begin(stream),
            Err(error) => pause_or_fail(error)?,
        }
    }
    Ok(())
}

/// Waits for a connection; `true` when it is time to end.
fn wait(listener: BorrowedFd<'_>, end: BorrowedFd<'_>) -> io::Result<bool> {
    let mut watched =
        [PollFd::from_borrowed_fd(listener, PollFlags::IN), PollFd::from_borrowed_fd(end, PollFlags::IN)];
    loop {
        match poll(&mut watched, None) {
            Err(Errno::INTR) => {}
            polled => {
                polled?;
                return Ok(!watched[1].revents().is_empty());
            }
        }
    }
}

/// Waits where accept(2) says that the trouble may pass, and gives the error back where it may not.
fn pause_or_fail(error: io::Error) -> Result<(), ServeError> {
    match Errno::from_io_error(&error) {
        Some(Errno::WOULDBLOCK | Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => Ok(()),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
            std::thread::sleep(ACCEPT_PAUSE);
            Ok(())
        }
        _ => Err(ServeError::Accept(error)),
    }
}

/// The conversations under way. Dropping it ends them.
struct Conversations {
    containers: Arc<dyn Containers>,
    under_way: Vec<(JoinHandle<()>, Weak<TcpStream>)>,
}

impl Conversations {
    fn begin(&mut self, stream: TcpStream) {
        self.under_way.retain(|(thread, _)| !thread.is_finished());
        if self.under_way.len() >= MOST_CONVERSATIONS {
            conversation::refuse(&stream, &format!("it already has {MOST_CONVERSATIONS} connections"));
            return;
        }
        let stream = Arc::new(stream);
        let shared = Arc::downgrade(&stream);
        let containers = self.containers.clone();
        let thread = std::thread::Builder::new()
            .name("conversation".to_owned())
            .spawn(move || conversation::hold(&stream, containers.as_ref()));
        match thread {
            Ok(thread) => self.under_way.push((thread, shared)),
            Err(error) => tracing::warn!("cannot start a thread for a connection: {error}"),
        }
    }
}

impl Drop for Conversations {
    fn drop(&mut self) {
        for (_, stream) in &self.under_way {
            if let Some(stream) = stream.upgrade() {
                // One that is not connected any more ends by itself.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        for (thread, _) in self.under_way.drain(..) {
            // A conversation that panicked has said so.
            let _ = thread.join();
        }
    }
}
