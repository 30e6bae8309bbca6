//! What the kernel says the machine and a service did during a slice, one module per thing read.
//! Counters are read before and after; the difference is the observation. See [`Snapshot`] and [`between`].
//!
//! Reading shares the machine with what is measured, so it is a handful of small files: about 50 µs for each thread of the
//! service and 100 µs for the rest (measured on a virtual machine with an AMD EPYC). Whatever cannot be read is `None`; no reading ever ends a run.

mod cgroup;
mod machine;
mod machine_cpu;
mod memory;
mod observations;
mod process;
mod procfs;
mod snapshot;
mod softirqs;
mod sys;
mod tcp;
mod threads;

pub use cgroup::Cgroup;
pub use loadline_model::{Machine, MachineCpu, Observations};
pub use machine::describe_machine;
pub use observations::between;
pub use snapshot::{Snapshot, Subject};
