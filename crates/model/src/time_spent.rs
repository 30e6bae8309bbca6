//! Where the wall time of a run went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the wall time of a run went, s. The parts do not overlap; what is in none of them is the rest of the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeSpent {
    /// From the first preparation to the last removal.
    pub total_s: f64,
    /// Creating networks, containers and processes.
    pub starting_s: f64,
    /// Waiting until services answer.
    pub ready_s: f64,
    /// Warming up.
    pub warming_up_s: f64,
    /// Load of slices, except repeats.
    pub measuring_s: f64,
    /// Load of repeated slices.
    pub repeating_s: f64,
    /// Waiting for a quieter machine.
    pub waiting_s: f64,
    /// Slices that are profiled or watched, and what is made of the samples.
    pub profiling_s: f64,
    /// Reading counters before and after slices.
    pub counters_s: f64,
    /// Storing slices.
    pub storing_s: f64,
    /// Stopping services, and removing what was created for them.
    pub stopping_s: f64,
}

impl TimeSpent {
    /// What is in none of the parts.
    pub fn other_s(&self) -> f64 {
        let parts = [
            self.starting_s,
            self.ready_s,
            self.warming_up_s,
            self.measuring_s,
            self.repeating_s,
            self.waiting_s,
            self.profiling_s,
            self.counters_s,
            self.storing_s,
            self.stopping_s,
        ];
        (self.total_s - parts.iter().sum::<f64>()).max(0.0)
    }
}
