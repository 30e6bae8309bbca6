//! What is deployed: a service as a command, as an image, or as both, and its limits.

use std::{
    net::{Ipv4Addr, SocketAddrV4},
    path::PathBuf,
};

use loadline_machine::{Error, Node, ports};
use loadline_model::platform::{Image, Limits};

/// A service, as something that can be started. A platform of processes needs the command, one of containers the image.
///
/// In `argv` and in the values of `env`, `{host}` and `{port}` stand for the address to listen on, `{limits.cpu}` and
/// `{limits.memory}` for its limits: whole CPUs, rounded up, and bytes, as Kubernetes' `resourceFieldRef` gives them.
/// `HOST` and `PORT` are in its environment as well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// The program, searched in PATH unless it has a slash, and its arguments. No shell is involved. In a container the image
    /// determines the program, and only the arguments are passed on.
    pub argv: Vec<String>,
    /// The image of a container.
    pub image: Option<Image>,
    /// Environment variables besides those of loadline.
    pub env: Vec<(String, String)>,
    /// The port it listens on, if that is fixed.
    pub port: Option<u16>,
    /// The CPUs it is pinned to, on every platform; empty for all that loadline may use.
    pub cpus: Vec<usize>,
    /// What it may use.
    pub limits: Limits,
    /// Its working directory; loadline's if `None`. A container has its image's.
    pub working_dir: Option<PathBuf>,
    /// A path whose GET is answered with success once it is ready; without one, it is ready once it accepts a connection.
    pub ready_path: Option<String>,
    /// Whether it speaks TLS.
    pub https: bool,
    /// Whether others of the run are deployed beside it, which reach it or which it reaches: what services need.
    pub has_peers: bool,
}

impl Service {
    /// Node address and port if it is in the node's own network namespace.
    ///
    /// # Errors
    /// When its own port is in use, or no port is free.
    pub fn listen_on(&self, node: &Node) -> Result<SocketAddrV4, Error> {
        let host = node.address;
        let Some(port) = self.port else {
            return Ok(SocketAddrV4::new(host, node.ports.listening_port(&node.netns, host)?));
        };
        // A service that does not get its address listens on all of them, and then conflicts with any listener.
        let wanted = if self.takes_host() { host } else { Ipv4Addr::UNSPECIFIED };
        ports::check_free(&node.netns, wanted, port)?;
        Ok(SocketAddrV4::new(host, port))
    }

    /// Whether the service gets the address on the command line or in a variable.
    pub fn takes_host(&self) -> bool {
        self.argv.iter().chain(self.env.iter().map(|(_, value)| value)).any(|text| text.contains("{host}"))
    }

    /// `text` with its placeholders filled in.
    pub fn fill(&self, text: &str, host: &str, port: u16) -> String {
        let cpus = self.limits.cpus.map(|cpus| cpus.ceil().to_string()).unwrap_or_default();
        let memory = self.limits.memory_bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
        text.replace("{host}", host)
            .replace("{port}", &port.to_string())
            .replace("{limits.cpu}", &cpus)
            .replace("{limits.memory}", &memory)
    }
}

/// A memory limit in MiB where that is exact.
pub fn mebibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}
