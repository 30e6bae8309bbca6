//! What is observed of a deployment, and how.

use std::{fmt, sync::Arc, time::SystemTime};

use loadline_machine::Cgroup;

use crate::agent::Agent;

/// Where the counters of a deployment are.
#[derive(Clone, Debug)]
pub enum Subject {
    /// On this machine, if anywhere: the processes and the cgroup of an external service are not known.
    Here {
        /// The service's first process, and those of the proxies in the path of its requests. Their use counts as the deployment's cost.
        root_pids: Vec<u32>,
        /// The service's own cgroup, if it has one; its proxies are in it too.
        cgroup: Option<Cgroup>,
    },
    /// On another node, where an agent finds the service by its container's id.
    Agent(Agent, String),
    /// On another node, where only its CPU time and memory are available.
    Usage(UsageReader),
    /// Where nothing can be observed.
    Nobody,
}

impl Subject {
    /// Nothing is known: an external service.
    pub const NOTHING: Subject = Subject::Here { root_pids: Vec::new(), cgroup: None };
}

/// Reads a service's usage from its accounting, such as a kubelet's; `None` if it cannot be read now.
#[derive(Clone)]
pub struct UsageReader(Arc<dyn Fn() -> Option<Usage> + Send + Sync>);

/// What a service used, according to its accounting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The time of the figures, by the node's clock. Successive readings may return the same figures.
    pub at: SystemTime,
    /// CPU time since the service started.
    pub cpu_ns: u64,
    /// Working set: charged memory less reclaimable page cache.
    pub memory_bytes: Option<u64>,
}

impl UsageReader {
    /// A reader that calls `read`.
    pub fn new(read: impl Fn() -> Option<Usage> + Send + Sync + 'static) -> UsageReader {
        UsageReader(Arc::new(read))
    }

    /// The current figures, or the latest available.
    pub fn read(&self) -> Option<Usage> {
        (self.0)()
    }
}

impl fmt::Debug for UsageReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsageReader")
    }
}
