//! What can go wrong between a wish for a deployment and a running one.
//! Every variant says what was tried, on what, and where it helps, what to do.

use std::{fmt::Display, io, net::SocketAddr, path::PathBuf};

use loadline_model::platform::{Layer, LayersError};

use crate::{CniError, DockerError, RunName};

/// A deployment, or its removal, failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service has no command at all.
    #[error("the service has an empty command")]
    EmptyCommand,
    /// No file of that name exists where commands are looked for.
    #[error("the command `{command}` was not found ({searched})")]
    CommandNotFound {
        /// The command as given.
        command: String,
        /// Where it was looked for.
        searched: String,
    },
    /// The file is there, but it isn't a program this user may start.
    #[error("`{}` is not an executable file for this user (chmod +x makes it one)", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
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
    /// Layers that do not go together.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// What this machine lacks for a layer.
    #[error("the layer `{layer}` can't be had here: {why}")]
    LayerMissing {
        /// The layer asked for.
        layer: Layer,
        /// The kernel's option, the program or the right that is missing, in half a sentence.
        why: String,
    },
    /// The program of a layer is there and doesn't do its work.
    #[error("the layer `{layer}` did not come up: `{program}` {why}")]
    Proxy {
        /// The layer asked for.
        layer: Layer,
        /// The program's name.
        program: &'static str,
        /// What became of it, as the rest of the sentence, and the end of what it printed.
        why: String,
    },
    /// Certificates for mutual TLS could not be made.
    #[error("could not make the certificates of the layer `sidecar`: {source}")]
    Certificates {
        /// The library's reason.
        #[from]
        source: rcgen::Error,
    },
    /// A network that CNI plugins lay, or should give back.
    #[error(transparent)]
    Cni(#[from] CniError),
    /// Not six lower-case hexadecimal digits.
    #[error("`{0}` is not the name of a run (six digits of 0-9 and a-f)")]
    BadRunName(String),
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
    /// Docker, or Podman in its place, has no container for us.
    #[error(transparent)]
    Docker(#[from] DockerError),
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
    /// A Kubernetes cluster did not do what was asked of it.
    #[error(transparent)]
    Cluster(#[from] crate::ClusterError),
    /// Something of ours withstood its removal.
    #[error("could not remove {what}")]
    Remains {
        /// What remains.
        what: String,
    },
}

/// Turns a bare system error into one that says what was being done.
pub(crate) trait Doing<T> {
    /// `what` completes the sentence "could not …".
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
