//! What is done to a machine, whichever platform asks for it: network namespaces and links, rules, cgroups, processes, addresses and
//! ports, and the registry of what was made, from which it is removed again.
//!
//! [`Environment::prepare`] registers a run with the [`Registry`] and lays what all its deployments share: a client namespace, joined to
//! the node by a wire. All that is made carries the name of an [`Owner`], which is a run or one of its deployments, and is removed by that
//! name: at a deployment's end ([`Cleanup`]), at the run's end, and by [`clean()`] after a run that was killed. What only one platform
//! knows how to remove, its [`Cleaner`] removes; this crate knows no platform.
//!
//! An ordinary user calls [`enter_user_namespace`] first; nothing else differs. What is outside, containers above all, can't be reached
//! from there: for that the user stays, with [`Environment::prepare_without_wire`].

pub mod addresses;
pub mod cgroup;
mod clean;
mod cleaner;
mod cleanup;
mod container;
mod environment;
mod error;
pub mod iptables;
pub mod kernel_log;
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
pub use clean::{NetworkScope, clean, may_change_network};
pub use cleaner::{Cleaner, Removed, Section};
pub use cleanup::{Cleanup, Resources};
pub use container::{Container, find_container};
pub use environment::Environment;
pub use error::{Doing, Error};
pub use netlink::Netlink;
pub use netns::{Netns, is_in};
pub use node::{Node, Own, WIRE, bare_node};
pub use output::TAIL_BYTES;
pub use owner::{Owner, PROCESS_LABEL, RUN_LABEL, Role, SLOT_LABEL};
pub use process::{Launch, Place, Running, Variables};
pub use process_handle::ProcessHandle;
pub use registry::{Registry, RunFolder};
pub use run_name::{BadRunName, RunName};
pub use slots::Slot;
pub use user_namespace::{enter_user_namespace, outer_uid};
