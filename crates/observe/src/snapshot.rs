//! One reading of every counter at one moment.
//! Two of them, before and after a slice, make its [`crate::Observations`].

use std::collections::BTreeMap;

use loadline_model::MachineCpu;
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::cgroup::{self, Cgroup};
use crate::machine_cpu;
use crate::memory::{self, Memory};
use crate::process::{self, ProcessCpu};
use crate::softirqs::{self, Softirqs};
use crate::tcp;
use crate::threads::{self, Scheduling};

/// What is observed: one deployment of a service. An external service has neither process nor cgroup here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The first process of the service, then those of the proxies before it, as numbered in this process's PID namespace.
    pub root_pids: Vec<u32>,
    /// The cgroup that holds all of them and nothing else.
    pub cgroup: Option<Cgroup>,
}

impl Subject {
    fn roots(&self) -> impl Iterator<Item = Pid> {
        self.root_pids.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?))
    }

    /// The numbers of its processes as this process's PID namespace has them; empty when it has ended or is elsewhere.
    pub fn pids(&self) -> Vec<u32> {
        self.processes()
            .into_iter()
            .filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
            .collect()
    }

    /// The processes in the cgroup, else the trees below the first processes.
    fn processes(&self) -> Vec<Pid> {
        let in_cgroup = self.cgroup.as_ref().map(Cgroup::processes).unwrap_or_default();
        if in_cgroup.is_empty() { self.roots().flat_map(process::tree).collect() } else { in_cgroup }
    }
}

/// The absolute counters at one moment; what could not be read is left out. It can be taken on one machine and compared on another,
/// with a snapshot of the same machine and boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// `CLOCK_MONOTONIC` of the machine that it was taken on.
    pub(crate) taken_ns: u64,
    /// `CLOCK_PROCESS_CPUTIME_ID` of whoever took it.
    pub(crate) observer_cpu_ns: u64,
    pub(crate) machine: Option<MachineCpu>,
    /// CPUs of that machine.
    pub(crate) cpus: Option<u32>,
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
        let pids = subject.processes();
        let (machine, cpus) = machine_cpu::read().unzip();
        Self {
            machine,
            cpus,
            softirqs: softirqs::read(),
            threads: threads::of_processes(&pids),
            memory: memory::of_processes(&pids),
            tcp_retransmits: subject.roots().next().or(pids.first().copied()).and_then(tcp::retransmits),
            ..Self::take_cpu(subject)
        }
    }

    /// As [`Snapshot::take`], of the service's CPU time alone: for services that others are measured beside, where it takes a tenth of
    /// the time.
    pub fn take_cpu(subject: &Subject) -> Self {
        let cgroup = subject.cgroup.as_ref().map(Cgroup::read);
        let charged = cgroup.is_some_and(|reading| reading.cpu.is_some());
        let processes = if charged { None } else { process::cpu_of(&subject.processes()) };
        Self {
            taken_ns: now_ns(ClockId::Monotonic),
            observer_cpu_ns: now_ns(ClockId::ProcessCPUTime),
            machine: None,
            cpus: None,
            softirqs: None,
            cgroup,
            processes,
            threads: None,
            memory: None,
            tcp_retransmits: None,
        }
    }
}

/// Nanoseconds of a clock that never tells a negative time.
fn now_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
