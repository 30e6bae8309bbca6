//! What the kernel says the machine and a service did during a slice. A [`Probe`] reads one thing and declares the metrics that it gives;
//! [`probes`] lists them all. They are read before and after by an [`Observer`]; the differences are the observations. Beside that, what the
//! kernel tells of the machine itself: [`describe_machine`], [`read_cpu_power`], [`CpuTimes`], [`ProgramsReading`].
//!
//! Reading shares the machine with what is measured, so it is a handful of small files: about 50 µs for each thread of the
//! service and 100 µs for the rest (measured on a virtual machine with an AMD EPYC). Whatever cannot be read is absent; no reading ever ends a run.

mod affinity;
mod cgroup;
mod cgroup_memory;
mod clocks;
mod cpu_power;
mod go;
mod inside;
mod jvm;
mod listening;
mod machine;
mod machine_cpu;
mod memory;
mod observer;
mod pressure;
mod probe;
pub mod probes;
mod process;
mod procfs;
mod programs;
mod service_cpu;
mod softirqs;
mod subject;
mod sys;
mod task_time;
mod tcp;
mod threads;
mod throttling;
mod timeline;

pub use affinity::cpus_of;
pub use cgroup::Cgroup;
pub use cpu_power::read_cpu_power;
#[doc(hidden)]
pub use go::read_go_program;
#[doc(hidden)]
pub use jvm::read_perf_data;
pub use listening::{listening_elsewhere, listening_ports};
pub use loadline_model::{Machine, MachineCpu, Observations};
pub use machine::describe_machine;
pub use machine_cpu::CpuTimes;
pub use observer::{Observer, Snapshot, Wanted, between_remote};
pub use probe::{AnyProbe, Probe, Target};
pub use procfs::parse_cpu_list;
pub use programs::ProgramsReading;
pub use subject::Subject;
pub use task_time::TaskTime;
pub use timeline::TimelineWatch;
