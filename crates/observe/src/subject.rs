//! What is observed: one deployment of a service.

use rustix::process::Pid;

use crate::cgroup::Cgroup;
use crate::process;
use crate::procfs::Proc;

/// One deployment of a service. An external service has neither process nor cgroup here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The first process of the service, then those of the proxies before it, as numbered in this process's PID namespace.
    pub root_pids: Vec<u32>,
    /// The cgroup that holds all of them and nothing else.
    pub cgroup: Option<Cgroup>,
}

impl Subject {
    pub(crate) fn roots(&self) -> impl Iterator<Item = Pid> {
        self.root_pids.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?))
    }

    /// The numbers of its processes as this process's PID namespace has them; empty when it has ended or is elsewhere.
    pub fn pids(&self) -> Vec<u32> {
        self.processes(&Proc::default())
            .into_iter()
            .filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
            .collect()
    }

    /// The processes in the cgroup, else the trees below the first processes.
    pub(crate) fn processes(&self, proc: &Proc) -> Vec<Pid> {
        let in_cgroup = self.cgroup.as_ref().map(Cgroup::processes).unwrap_or_default();
        if in_cgroup.is_empty() {
            self.roots().flat_map(|root| process::tree(proc, root)).collect()
        } else {
            in_cgroup
        }
    }
}
