//! What is known of a run while it goes on: rough, and meant to be watched. The result is made of the stored slices when it ends.

use serde::{Deserialize, Serialize};

/// A run so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// The cells in the order of the plan, twins left out; those not yet measured, too.
    pub cells: Vec<CellSoFar>,
    /// What the machine did in the latest slices.
    pub machine: MachineSoFar,
}

/// A cell so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSoFar {
    /// The name a table shows.
    pub label: String,
    /// Its load as text, `2000/s Poisson`.
    pub load: String,
    /// Median of its slices' median response times, ns.
    pub p50_ns: Option<f64>,
    /// By how much they are longer than those of what it is compared with, ns; `None` for what is compared with nothing.
    pub difference: Option<DifferenceSoFar>,
}

/// A difference so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSoFar {
    /// The mean over the deployments, ns.
    pub ns: f64,
    /// Half the width of Student's 95 % interval over the deployments, ns; over the blocks in the first one, and none of a single block.
    pub half_width_ns: Option<f64>,
}

/// What the machine did in the latest slices; each is `None` where no slice knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineSoFar {
    /// Pauses of 1 ms and more in a second, ms.
    pub paused_ms_per_second: Option<f64>,
    /// Share of its CPUs that other programs took.
    pub foreign: Option<f64>,
    /// Share that the hypervisor took.
    pub stolen: Option<f64>,
}
