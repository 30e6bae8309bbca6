//! What of a deployment is observed, and by whom.

use std::{fmt, sync::Arc, time::SystemTime};

use loadline_machine::Cgroup;

use crate::agent::Agent;

/// Where the counters of a deployment are.
#[derive(Clone, Debug)]
pub enum Subject {
    /// On this machine, if anywhere: a service that somebody else runs has neither processes nor a cgroup that are known.
    Here {
        /// The service's first process, and those of the proxies in its requests' path. What they use is the deployment's cost.
        root_pids: Vec<u32>,
        /// The service's own cgroup, if it has one; its proxies are in it too.
        cgroup: Option<Cgroup>,
    },
    /// On another node, where an agent finds the service by its container's id.
    Agent(Agent, String),
    /// On another node, and only its CPU time and memory can be asked for.
    Usage(UsageReader),
    /// Where nobody may read them.
    Nobody,
}

impl Subject {
    /// What isn't known at all: a service that somebody else runs.
    pub const NOTHING: Subject = Subject::Here { root_pids: Vec::new(), cgroup: None };
}

/// Asks whoever keeps account of a service, such as a kubelet; `None` is what can't be read now.
#[derive(Clone)]
pub struct UsageReader(Arc<dyn Fn() -> Option<Usage> + Send + Sync>);

/// What a service used, as whoever keeps account of it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// When it was so, by the node's clock. Whoever is asked may answer twice with the same figures.
    pub at: SystemTime,
    /// CPU time since the service began.
    pub cpu_ns: u64,
    /// Memory that it works with: charged, less page cache that could go.
    pub memory_bytes: Option<u64>,
}

impl UsageReader {
    /// `read` asks.
    pub fn new(read: impl Fn() -> Option<Usage> + Send + Sync + 'static) -> UsageReader {
        UsageReader(Arc::new(read))
    }

    /// The figures of now, or of a moment ago.
    pub fn read(&self) -> Option<Usage> {
        (self.0)()
    }
}

impl fmt::Debug for UsageReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsageReader")
    }
}
