//! Platforms: where a service runs while it is measured, and everything on the machine that this takes.
//!
//! [`Ground::prepare`] lays what all deployments of a run share: a client namespace, joined to the node by a wire.
//! A [`Platform`] then deploys a [`ServiceProcess`] on it: [`Host`] as a plain process, [`Local`] behind chosen
//! [`Layer`]s, [`External`] not at all. All that is made carries the [`RunName`] and is removed by that name: at a
//! deployment's end, at the run's end, and by [`clean()`] after a run that was killed.
//!
//! An ordinary user calls [`enter_user_namespace`] first; nothing else differs.
//!
//! Rules are hooked into the node as a whole, as they are on a real node: with a node port or published port deployed,
//! the kernel tracks the connections of `host` deployments of the same run as well.

mod addresses;
mod cgroup;
mod clean;
mod error;
mod external;
mod ground;
mod host;
mod iptables;
mod layers;
mod local;
mod netlink;
mod netns;
mod nftables;
mod output;
mod owner;
mod ports;
mod process;
mod processes;
mod registry;
mod run_name;
mod spawner;
mod sys;
mod tool;
mod user_namespace;

use std::{net::SocketAddr, path::PathBuf, process::ExitStatus};

use serde::{Deserialize, Serialize};

pub use cgroup::Cgroup;
pub use clean::{Kind, Removed, clean};
pub use error::Error;
pub use external::External;
pub use ground::Ground;
pub use host::Host;
pub use layers::{Backend, Layer, preset};
pub use local::Local;
pub use netns::Netns;
pub use registry::Registry;
pub use run_name::RunName;
pub use user_namespace::enter_user_namespace;

/// A service as a command to start.
///
/// In `argv` and in the values of `env`, `{host}` and `{port}` stand for the address to listen on; `HOST` and `PORT`
/// are in its environment as well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceProcess {
    /// The program, searched in PATH unless it has a slash, and its arguments. No shell is involved.
    pub argv: Vec<String>,
    /// Environment variables beside those of loadline.
    pub env: Vec<(String, String)>,
    /// The port it listens on if it can't be told one.
    pub port: Option<u16>,
    /// The CPUs it is pinned to, on every platform; none means wherever loadline may run.
    pub cpus: Vec<usize>,
    /// What it may use.
    pub limits: Limits,
    /// Its working directory; loadline's if `None`.
    pub working_dir: Option<PathBuf>,
}

impl ServiceProcess {
    /// Whether the address is passed on the command line or in a variable.
    fn takes_host(&self) -> bool {
        self.argv.iter().chain(self.env.iter().map(|(_, value)| value)).any(|text| text.contains("{host}"))
    }
}

/// Upper bounds on what a service uses, enforced by its cgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time per time: 0.5 is half a CPU. At least 0.01.
    pub cpus: Option<f64>,
    /// Memory, without any swap on top, in bytes. At least 1 MiB.
    pub memory_bytes: Option<u64>,
}

impl Limits {
    fn any(&self) -> bool {
        self.cpus.is_some() || self.memory_bytes.is_some()
    }
}

/// A place where services run.
pub trait Platform: Send + Sync {
    /// Starts the service. It has been started when this returns; whether it is ready is for the caller to ask it.
    ///
    /// # Errors
    /// Whatever was made by then has been removed.
    fn deploy(&self, ground: &Ground, service: &ServiceProcess) -> Result<Box<dyn Deployment>, Error>;
}

/// Where the client of a deployment has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// In [`Ground::client`], behind the wire.
    Client,
    /// In the node's own network namespace: the service is nowhere near the wire.
    Node,
}

/// One start of a service on a platform. Dropping it stops the service and removes what was made for it.
pub trait Deployment: Send {
    /// Where the client connects.
    fn address(&self) -> SocketAddr;

    /// From where the client connects.
    fn vantage(&self) -> Vantage;

    /// The service's first process, if it is on this machine.
    fn root_pid(&self) -> Option<u32>;

    /// The service's own cgroup, if it has one.
    fn cgroup(&self) -> Option<&Cgroup>;

    /// What could not be had here and how to get it, a sentence each.
    fn left_out(&self) -> &[String];

    /// How the first process ended, once it has.
    fn exited(&mut self) -> Option<ExitStatus>;

    /// The last 64 KiB that the service wrote to its standard output and error.
    fn output_tail(&self) -> String;

    /// Ends the service (SIGTERM, after two seconds SIGKILL, to all its processes) and removes what was made for it.
    fn stop(self: Box<Self>) -> Result<(), Error>;
}
