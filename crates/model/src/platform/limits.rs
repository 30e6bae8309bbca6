//! What a service may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Upper bounds on what a service uses, enforced by its cgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPU time per time: 0.5 is half a CPU. At least 0.01.
    pub cpus: Option<f64>,
    /// Memory, without any swap on top, in bytes. At least 1 MiB.
    pub memory_bytes: Option<u64>,
}

impl Limits {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        !self.any()
    }

    /// These limits, and where one is missing that of `common`.
    #[must_use]
    pub fn or(self, common: Limits) -> Limits {
        Limits { cpus: self.cpus.or(common.cpus), memory_bytes: self.memory_bytes.or(common.memory_bytes) }
    }

    /// Whether there is one at all.
    pub fn any(&self) -> bool {
        self.cpus.is_some() || self.memory_bytes.is_some()
    }
}
