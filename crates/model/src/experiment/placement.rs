//! Which CPUs an experiment asks for.

use serde::{Deserialize, Serialize};

/// CPUs of the service and of the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// CPUs that services are pinned to.
    pub service_cpus: Option<Vec<usize>>,
    /// Whether services are not pinned at all: they see all CPUs, as an ordinary pod does, and have no more than their limits.
    #[serde(default)]
    pub service_sees_all: bool,
    /// CPUs that load threads are pinned to.
    pub load_cpus: Option<Vec<usize>>,
}
