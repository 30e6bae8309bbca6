//! The options of the platform `docker`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The platform `docker`. Of a start it tells the phases `image` (there, pulled or loaded), `created` and `started`, by loadline's own clock:
/// when Docker's answer had come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Docker {
    /// How the container is joined to a network.
    pub network: DockerNetwork,
    /// How a client outside reaches it.
    pub publish: Publish,
    /// User in the container, `1000` or `1000:1000`; `None` is the image's.
    pub user: Option<String>,
    /// Folders and files of this machine in the container.
    pub mounts: Vec<Mount>,
}

/// How a container is joined to a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DockerNetwork {
    /// Docker's own bridge, its default.
    #[default]
    Bridge,
    /// The node's own network namespace.
    Host,
    /// A macvlan link straight on the client's wire, past the node's IP stack.
    Macvlan,
    /// No network of Docker's; a routed veth pair laid by loadline.
    NoneWithWire,
}

/// How a client outside reaches a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Publish {
    /// A port of the node, translated by the kernel: Docker's default.
    #[default]
    Port,
    /// A port of the node, carried by the process `docker-proxy`.
    UserlandProxy,
    /// Not at all: the client connects to the container's own address.
    None,
}

/// A folder or file of this machine in a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Absolute path on this machine.
    pub source: PathBuf,
    /// Absolute path in the container.
    pub target: String,
    /// Whether the container may only read it.
    pub read_only: bool,
}

impl DockerNetwork {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            DockerNetwork::Bridge => "bridge",
            DockerNetwork::Host => "host",
            DockerNetwork::Macvlan => "macvlan",
            DockerNetwork::NoneWithWire => "none-with-wire",
        }
    }
}

impl Publish {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Publish::Port => "port",
            Publish::UserlandProxy => "userland-proxy",
            Publish::None => "none",
        }
    }
}
