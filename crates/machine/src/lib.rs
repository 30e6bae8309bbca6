//! What all platforms do to a machine: network namespaces and links, rules, cgroups, processes, addresses and ports, and
//! the registry of what was created, from which it is removed again.
//!
//! [`Environment::prepare`] registers a run with the [`Registry`] and creates what all its deployments share: a client namespace, connected
//! to the node by a wire. Everything carries the name of an [`Owner`], which is a run or one of its deployments, and is removed by that
//! name: at the end of a deployment ([`Cleanup`]), at the end of the run, and by [`clean()`] after a run that was killed. What only one
//! platform can remove is left to its [`Cleaner`]; this crate knows no platform.
//!
//! An ordinary user calls [`enter_user_namespace`] first; nothing else differs. What is outside, containers above all, cannot be reached
//! from there: to reach it, the user stays outside, with [`Environment::prepare_without_wire`].

pub mod addresses;
pub mod cgroup;
mod clean;
mod cleaner;
mod cleanup;
mod container;
mod environment;
mod error;
mod freezer;
pub mod iptables;
pub mod kernel_log;
mod neighbour;
mod netlink;
mod netns;
pub mod nftables;
mod node;
mod output;
mod owner;
pub mod ports;
mod process;
mod process_handle;
mod processes;
mod registry;
mod run_name;
mod slots;
mod spawner;
mod sys;
pub mod tool;
mod user_namespace;
pub mod wait;

pub use cgroup::Cgroup;
pub use cgroup::may_create_cgroups;
pub use clean::{NetworkScope, clean, may_change_network};
pub use cleaner::{Cleaner, Removed, Section};
pub use cleanup::{Cleanup, Resources};
pub use container::{Container, find_container};
pub use environment::{ClientWire, Environment};
pub use error::{Error, ErrorContext};
pub use freezer::Freezer;
pub use neighbour::neighbour;
pub use netlink::Netlink;
pub use netns::{Netns, is_in};
pub use node::{Node, OwnNode, WIRE, new_node_namespace};
pub use output::TAIL_BYTES;
pub use owner::{Owner, PROCESS_LABEL, RUN_LABEL, Role, SLOT_LABEL};
pub use process::{ChildProcess, Launch, ProcessPlacement, Variables};
pub use process_handle::ProcessHandle;
pub use registry::{MeasuringTurn, Registry, RunFolder, Turn};
pub use run_name::{BadRunName, RunName};
pub use slots::Slot;
pub use user_namespace::{enter_user_namespace, host_uid};
