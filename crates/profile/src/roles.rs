//! To whom a sample belongs: by process and thread, which only the caller knows.

use std::collections::BTreeSet;

/// The processes and threads that are being measured. Ids are those of the PID namespace in which the profiler was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRoles {
    /// Processes of the service, including those that a platform puts into the request path (a proxy): all their threads.
    pub service: BTreeSet<u32>,
    /// The load threads; threads, because they may share a process with everything else that loadline does.
    pub load: BTreeSet<u32>,
}

/// The role of the task that was running at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Service,
    Load,
    /// The idle task of a CPU (PID 0).
    IdleTask,
    /// Anything else on the machine.
    Foreign,
}

impl ThreadRoles {
    pub(crate) fn role(&self, pid: u32, tid: u32) -> Role {
        if pid == 0 {
            Role::IdleTask
        } else if self.load.contains(&tid) {
            Role::Load
        } else if self.service.contains(&pid) {
            Role::Service
        } else {
            Role::Foreign
        }
    }
}
