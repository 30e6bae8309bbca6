//! One reading of every counter at one moment.
//! Two of them, before and after a slice, make its [`crate::Observations`].

use std::collections::BTreeMap;

use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::cgroup::{self, Cgroup};
use crate::machine_cpu::{self, MachineCpu};
use crate::memory::{self, Memory};
use crate::process::{self, ProcessCpu};
use crate::softirqs::{self, Softirqs};
use crate::tcp;
use crate::threads::{self, Scheduling};

/// What is observed: one deployment of a service. An external service has neither process nor cgroup here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The first process of the service, as numbered in this process's PID namespace.
    pub root_pid: Option<u32>,
    /// The cgroup that holds the service and nothing else.
    pub cgroup: Option<Cgroup>,
}

impl Subject {
    fn root(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.root_pid?).ok()?)
    }

    /// The processes in the cgroup, else the tree below the first process.
    fn processes(&self) -> Vec<Pid> {
        let in_cgroup = self.cgroup.as_ref().map(Cgroup::processes).unwrap_or_default();
        match self.root() {
            Some(root) if in_cgroup.is_empty() => process::tree(root),
            _ => in_cgroup,
        }
    }
}

/// The absolute counters at one moment; what could not be read is left out. It can be taken on one machine and compared on another,
/// with a snapshot of the same machine and boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// `CLOCK_MONOTONIC` of the machine that it was taken on.
    pub(crate) taken_ns: u64,
    pub(crate) machine: Option<MachineCpu>,
    pub(crate) softirqs: Option<Softirqs>,
    pub(crate) cgroup: Option<cgroup::Reading>,
    /// Only where the cgroup gives no CPU time.
    pub(crate) processes: Option<BTreeMap<u32, ProcessCpu>>,
    pub(crate) threads: Option<BTreeMap<u32, Scheduling>>,
    pub(crate) memory: Option<Memory>,
    pub(crate) tcp_retransmits: Option<u64>,
}

impl Snapshot {
    /// Reads everything there is to know of `subject` and of the machine, without waiting for anything.
    ///
    /// The counters are not read at the same instant: from first to last it takes about 50 µs for each thread of the
    /// service and 100 µs besides, so take snapshots while no load runs.
    pub fn take(subject: &Subject) -> Self {
        let taken_ns = monotonic_ns();
        let cgroup = subject.cgroup.as_ref().map(Cgroup::read);
        let pids = subject.processes();
        let charged = cgroup.is_some_and(|reading| reading.cpu.is_some());
        let processes = if charged { None } else { process::cpu_of(&pids) };
        Self {
            taken_ns,
            machine: machine_cpu::read(),
            softirqs: softirqs::read(),
            cgroup,
            processes,
            threads: threads::of_processes(&pids),
            memory: memory::of_processes(&pids),
            tcp_retransmits: subject.root().or(pids.first().copied()).and_then(tcp::retransmits),
        }
    }
}

/// Nanoseconds since some moment before the boot; the kernel never tells a negative time by this clock.
fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
