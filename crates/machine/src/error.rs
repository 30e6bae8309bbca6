//! What can go wrong when something is created on a machine, or removed from it.
//! Every variant says what was tried, on what, and where it helps, what to do.

use std::{fmt::Display, io, net::SocketAddr, path::PathBuf};

use crate::run_name::{BadRunName, RunName};

/// Something could not be created or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process could not be set up or started.
    #[error("cannot start `{command}`: {step}: {source}")]
    Start {
        /// The command's first word.
        command: String,
        /// What was being done when it failed.
        step: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Another program listens on the service's port.
    #[error("port {} is in use on this machine ({address}): stop what listens there or give the service another port", address.port())]
    PortInUse {
        /// The address that is in use.
        address: SocketAddr,
    },
    /// All ports of the range are taken.
    #[error("no free port between {first} and {last} on this machine")]
    NoPortLeft {
        /// First port of the range.
        first: u16,
        /// Last port of the range.
        last: u16,
    },
    /// A limit that no kernel accepts.
    #[error("cannot set a limit {what}: {reason}")]
    BadLimit {
        /// The limit as given.
        what: String,
        /// Why it is not accepted.
        reason: &'static str,
    },
    /// Not six lower-case hexadecimal digits.
    #[error(transparent)]
    BadRunName(#[from] BadRunName),
    /// Another run, alive or killed, has this name.
    #[error(
        "run {run} already exists on this machine; if it was killed, `loadline clean` removes what is left of it"
    )]
    RunTaken {
        /// The name.
        run: RunName,
    },
    /// All address blocks of 198.18.0.0/15 are in use.
    #[error(
        "no /20 of 198.18.0.0/15 is free on this machine (`loadline clean` removes what killed runs left behind)"
    )]
    NoAddressLeft,
    /// A run has a limited number of addresses for deployments.
    #[error("a run can have at most {most} deployments at a time")]
    TooManyDeployments {
        /// The limit.
        most: u16,
    },
    /// The registry folder is open to others, so its content cannot be trusted.
    #[error("{} must be a folder that belongs to this user alone: remove it", path.display())]
    UnsafeRegistry {
        /// The folder.
        path: PathBuf,
    },
    /// A user namespace cannot be entered once there are several threads (see `unshare(2)`).
    #[error("cannot enter a user namespace with {threads} threads running: enter it before starting any")]
    SeveralThreads {
        /// Threads of this process.
        threads: usize,
    },
    /// The kernel refuses user namespaces to this user.
    #[error(
        "cannot run without root: loadline needs a user namespace, which this machine refuses ({step}: {source}). {hint}"
    )]
    UserNamespaceRefused {
        /// What was being done.
        step: &'static str,
        /// What to change.
        hint: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// This user cannot create a network namespace here.
    #[error("cannot make a network namespace ({source}): run as root, or inside a user namespace")]
    NetworkNamespaceRefused {
        /// The operating system's reason.
        source: io::Error,
    },
    /// A program that is needed is not installed.
    #[error("the program `{tool}` is not installed (package `{package}`)")]
    ToolMissing {
        /// The program.
        tool: &'static str,
        /// The package that contains it in most distributions.
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
    #[error("cannot {what}: {source}")]
    Netlink {
        /// What was being done.
        what: String,
        /// The kernel's reason.
        source: rtnetlink::Error,
    },
    /// Any other system call that failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was being done, on what.
        what: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Something of loadline's could not be removed.
    #[error("cannot remove {what}")]
    Remains {
        /// What remains.
        what: String,
    },
    /// What a platform created could not be removed, with the platform's own message.
    #[error(transparent)]
    Cleaner(Box<dyn std::error::Error + Send + Sync>),
    /// A run has objects of a platform that the caller does not know.
    #[error(
        "cannot remove what the run {run} has of `{name}`, which this version does not know: run `loadline clean` of the version that created it"
    )]
    NoCleaner {
        /// The run.
        run: RunName,
        /// The section of the registry.
        name: String,
    },
}

/// Turns a bare system error into one that says what failed.
pub trait ErrorContext<T> {
    /// `what` completes the sentence "cannot …".
    ///
    /// # Errors
    /// The system's, with `what`.
    fn with_context<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error>;
}

impl<T> ErrorContext<T> for io::Result<T> {
    fn with_context<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|source| Error::System { what: what().to_string(), source })
    }
}

impl<T> ErrorContext<T> for rustix::io::Result<T> {
    fn with_context<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(io::Error::from).with_context(what)
    }
}

impl<T> ErrorContext<T> for Result<T, rtnetlink::Error> {
    fn with_context<S: Display>(self, what: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|source| Error::Netlink { what: what().to_string(), source })
    }
}
