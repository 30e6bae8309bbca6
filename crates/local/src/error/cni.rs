//! What can go wrong with a CNI configuration and its plugins.

use std::{io, net::Ipv4Addr, path::PathBuf};

/// A CNI network could not be created or released.
#[derive(Debug, thiserror::Error)]
pub enum CniError {
    /// The configuration cannot be read.
    #[error("cannot read the CNI configuration {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The configuration is not JSON; the reason contains line and column.
    #[error("the CNI configuration {} is not JSON: {source}", file.display())]
    NotJson {
        /// The file.
        file: PathBuf,
        /// The parser's reason.
        source: serde_json::Error,
    },
    /// The configuration violates the specification.
    #[error("the CNI configuration {} {why}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, as the rest of the sentence.
        why: String,
    },
    /// A plugin failed.
    #[error("the CNI plugin `{plugin}` of {} failed at {command}: {why}", file.display())]
    Plugin {
        /// Its type in the configuration.
        plugin: String,
        /// `ADD` or `DEL`.
        command: &'static str,
        /// The configuration that names it.
        file: PathBuf,
        /// Its message, details and error code, or what it printed.
        why: String,
    },
    /// The plugins gave the pod no address that a client of loadline can connect to.
    #[error("the CNI configuration {} gives the pod no IPv4 address", file.display())]
    NoAddress {
        /// The configuration.
        file: PathBuf,
    },
    /// The plugins gave the pod no route to the client.
    #[error(
        "the CNI configuration {} gives the pod no route to the client at {client} ({source}): add {{\"dst\": \"0.0.0.0/0\"}} to `routes` in its `ipam`",
        file.display()
    )]
    NoReturnRoute {
        /// The configuration.
        file: PathBuf,
        /// The client's address.
        client: Ipv4Addr,
        /// The kernel's reason.
        source: io::Error,
    },
}
