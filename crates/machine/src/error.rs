//! What can go wrong when something is made on a machine, or removed from it.
//! Every variant says what was tried, on what, and where it helps, what to do.

use std::{fmt::Display, io, net::SocketAddr, path::PathBuf};

use crate::run_name::{BadRunName, RunName};

/// Something could not be made, or not be removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process could not be set up or started.
    #[error("`{command}` could not be started: {step}: {source}")]
    Start {
        /// The command's first word.
        command: String,
        /// What was being done when it failed.
        step: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Somebody listens where the service wants to.
    #[error("port {} is in use on this machine ({address}): stop what listens there or give the service another port", address.port())]
    PortInUse {
        /// The address that can't be bound.
        address: SocketAddr,
    },
    /// All ports of the range are taken.
    #[error("no port between {first} and {last} is free on this machine")]
    NoPortLeft {
        /// First port of the range.
        first: u16,
        /// Last port of the range.
        last: u16,
    },
    /// A limit that no kernel accepts.
    #[error("the limit {what} can't be: {reason}")]
    BadLimit {
        /// The limit as given.
        what: String,
        /// Why it can't be.
        reason: &'static str,
    },
    /// Not six lower-case hexadecimal digits.
    #[error(transparent)]
    BadRunName(#[from] BadRunName),
    /// Another run, alive or killed, has this name.
    #[error(
        "there is already a run {run} on this machine; if it was killed, `loadline clean` removes what it left"
    )]
    RunTaken {
        /// The name.
        run: RunName,
    },
    /// All address blocks of 198.18.0.0/15 are in use.
    #[error(
        "no /20 of 198.18.0.0/15 is free on this machine (`loadline clean` removes what killed runs left)"
    )]
    NoAddressLeft,
    /// A run has a limited number of addresses for deployments.
    #[error("a run can have {most} deployments at a time at most")]
    TooManyDeployments {
        /// The limit.
        most: u16,
    },
    /// The registry folder is open to others, so its content can't be trusted.
    #[error("{} is not a folder that belongs to this user alone: remove it", path.display())]
    UnsafeRegistry {
        /// The folder.
        path: PathBuf,
    },
    /// A user namespace can't be entered once there are several threads (see `unshare(2)`).
    #[error("a user namespace must be entered before any thread is started, and there are {threads} threads")]
    SeveralThreads {
        /// Threads of this process.
        threads: usize,
    },
    /// The kernel refuses user namespaces to this user.
    #[error(
        "without root, loadline needs a user namespace, and this machine refuses it ({step}: {source}). {hint}"
    )]
    UserNamespaceRefused {
        /// What was being done.
        step: &'static str,
        /// What to change.
        hint: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A network namespace can't be made by this user here.
    #[error("a network namespace could not be made ({source}): run as root, or inside a user namespace")]
    NetworkNamespaceRefused {
        /// The operating system's reason.
        source: io::Error,
    },
    /// A program that is needed isn't installed.
    #[error("the program `{tool}` is needed and not installed (package `{package}`)")]
    ToolMissing {
        /// The program.
        tool: &'static str,
        /// The package of most distributions that holds it.
        package: &'static str,
    },
    /// A program that is needed failed.
    #[error("`{tool}` failed: {message}")]
    Tool {
        /// The program and its arguments.
        tool: String,
        /// What it printed.
        message: String,
    },
    /// The kernel refused a change of the network.
    #[error("could not {what}: {source}")]
    Netlink {
        /// What was being done.
        what: String,
        /// The kernel's reason.
        source: rtnetlink::Error,
    },
    /// Any other system call that failed.
    #[error("could not {what}: {source}")]
    System {
        /// What was being done, on what.
        what: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Something of ours withstood its removal.
    #[error("could not remove {what}")]
    Remains {
        /// What remains.
        what: String,
    },
    /// What a platform made could not be removed; in the platform's own words.
    #[error(transparent)]
    Cleaner(Box<dyn std::error::Error + Send + Sync>),
    /// A run has things of a platform that the caller knows nothing of.
    #[error(
        "the run {run} has things of `{name}`, which this program cannot remove: run `loadline clean` of the version that made them"
    )]
    NoCleaner {
        /// The run.
        run: RunName,
        /// The section of the registry.
        name: String,
    },
}

/// Turns a bare system error into one that says what was being done.
pub trait Doing<T> {
    /// `what` completes the sentence "could not …".
    ///
    /// # Errors
    /// The system's, with `what`.
    fn doing<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|source| Error::System { what: what().to_string(), source })
    }
}

impl<T> Doing<T> for rustix::io::Result<T> {
    fn doing<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(io::Error::from).doing(what)
    }
}

impl<T> Doing<T> for Result<T, rtnetlink::Error> {
    fn doing<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|source| Error::Netlink { what: what().to_string(), source })
    }
}
