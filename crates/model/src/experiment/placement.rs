//! Which CPUs an experiment asks for.

use serde::{Deserialize, Serialize};

/// CPUs of the service and of the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// CPUs that services are pinned to.
    pub service_cpus: Option<Vec<usize>>,
    /// CPUs that load threads are pinned to.
    pub load_cpus: Option<Vec<usize>>,
}
