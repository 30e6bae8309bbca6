//! One reading of every counter at one moment.
//! Two of them, before and after a slice, make its [`crate::Observations`].

use std::collections::BTreeMap;
use std::time::Instant;

use rustix::process::Pid;

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

/// The absolute counters at one moment; what could not be read is left out.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(crate) taken: Instant,
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
        let taken = Instant::now();
        let cgroup = subject.cgroup.as_ref().map(Cgroup::read);
        let pids = subject.processes();
        let charged = cgroup.is_some_and(|reading| reading.cpu.is_some());
        let processes = if charged { None } else { process::cpu_of(&pids) };
        Self {
            taken,
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
