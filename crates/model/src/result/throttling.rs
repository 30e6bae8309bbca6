//! What a CPU limit did to a service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a service used up its CPU quota while it was measured: `cpu.stat` of its cgroup, over the counted slices of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// Periods of the quota in which it wanted to run; a period is 100 ms unless somebody set it otherwise.
    pub periods: u64,
    /// Periods in which it was held back.
    pub throttled_periods: u64,
    /// How long it was held back in a second of measuring, ns, summed over CPUs.
    pub ns_per_second: f64,
}
