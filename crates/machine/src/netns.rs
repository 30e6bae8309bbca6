//! Network namespaces without a name: kept alive by a descriptor, gone with the last process or descriptor in them.
//! A thread enters one and stays; work that must not move its caller is done on a thread of its own.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::Path,
    sync::Arc,
    thread,
};

use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use crate::{
    error::{Error, ErrorContext},
    netlink::{self, Netlink},
    sys,
};

/// A network namespace (`network_namespaces(7)`), kept alive by this value and its clones.
#[derive(Clone, Debug)]
pub struct Netns(Arc<OwnedFd>);

impl Netns {
    /// The namespace that the calling thread is in.
    pub fn current() -> Result<Netns, Error> {
        let path = "/proc/thread-self/ns/net";
        let file = File::open(path).with_context(|| format!("open {path}"))?;
        Ok(Netns(Arc::new(file.into())))
    }

    /// The namespace of the process `pid`.
    pub fn of_process(pid: u32) -> Result<Netns, Error> {
        Netns::at(Path::new(&path_of(pid)))
    }

    /// The namespace that is mounted at this path, or that the path of a process leads to.
    pub(crate) fn at(path: &Path) -> Result<Netns, Error> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        Ok(Netns(Arc::new(file.into())))
    }

    /// A new namespace that contains only the loopback device, which is up.
    pub fn new() -> Result<Netns, Error> {
        let made = on_own_thread(|| {
            sys::unshare(UnshareFlags::NEWNET).map_err(|source| Error::NetworkNamespaceRefused { source })?;
            Netns::current()
        })?;
        made.with_netlink(async |net: &Netlink| net.set_up(net.index_of("lo").await?).await)?;
        Ok(made)
    }

    /// Moves the calling thread, and it alone, into the namespace for good. Threads and processes that it starts
    /// afterwards are in it as well. A thread that is in it already needs no permission.
    pub fn enter(&self) -> Result<(), Error> {
        if self.is(&Netns::current()?)? {
            return Ok(());
        }
        rustix::thread::move_into_link_name_space(self.as_fd(), Some(LinkNameSpaceType::Network))
            .with_context(|| "enter a network namespace")
    }

    /// Runs `work` inside the namespace, on a thread of its own, and waits for it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_own_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Runs `work` with a netlink connection, on a thread of its own inside the namespace.
    ///
    /// # Errors
    /// Those of `work`, and that no connection can be opened.
    pub fn with_netlink<T: Send>(
        &self,
        work: impl AsyncFnOnce(&Netlink) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        self.run(|| netlink::with_netlink(work))
    }

    /// Enables forwarding of what arrives on `link`. The kernel checks the flag of the incoming link, so the namespace's own
    /// setting stays as it is, and this one vanishes with the link.
    ///
    /// # Errors
    /// When there is no such link, or the setting cannot be written.
    pub fn forward_from(&self, link: &str) -> Result<(), Error> {
        let setting = format!("/proc/sys/net/ipv4/conf/{link}/forwarding");
        self.run(|| fs::write(&setting, "1").with_context(|| format!("write 1 to {setting}")))
    }

    fn is(&self, other: &Netns) -> Result<bool, Error> {
        let id = |netns: &Netns| rustix::fs::fstat(netns).map(|stat| (stat.st_dev, stat.st_ino));
        // Descriptors of one namespace have one inode (`namespaces(7)`).
        Ok(id(self).with_context(|| "identify a network namespace")?
            == id(other).with_context(|| "identify a network namespace")?)
    }

    /// Another descriptor of the namespace.
    pub(crate) fn try_clone_fd(&self) -> Result<OwnedFd, Error> {
        self.0.try_clone().with_context(|| "duplicate a descriptor")
    }
}

impl AsFd for Netns {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Whether the process `pid` is in the namespace.
pub fn is_in(netns: &Netns, pid: u32) -> io::Result<bool> {
    let theirs = fs::metadata(path_of(pid))?;
    let ours = rustix::fs::fstat(netns)?;
    // Descriptors of one namespace have one inode (`namespaces(7)`).
    Ok((theirs.dev(), theirs.ino()) == (ours.st_dev, ours.st_ino))
}

fn path_of(pid: u32) -> String {
    format!("/proc/{pid}/ns/net")
}

fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
