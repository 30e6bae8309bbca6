//! What the kernel tells of the CPUs' frequency, sleep and cores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frequency, idle states and cores. What the kernel does not show, as in most virtual machines, is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPower {
    /// What sets the frequency: `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`, …
    pub frequency_driver: Option<String>,
    /// How it is chosen; more than one where CPUs differ.
    pub governors: Vec<Governor>,
    /// What the CPU itself is asked for, `performance` to `power`.
    pub energy_preference: Option<String>,
    /// Whether the frequency may rise above the nominal one while heat allows.
    pub turbo: Option<bool>,
    /// What chooses idle states: `intel_idle`, `acpi_idle`, `haltpoll`, …
    pub idle_driver: Option<String>,
    /// From shallow to deep.
    pub idle_states: Vec<IdleState>,
    /// Whether cores run more than one hardware thread.
    pub smt: Option<bool>,
    /// CPUs that share a core, for each core that has several.
    pub shared_cores: Vec<Vec<usize>>,
}

/// A frequency governor and its CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Governor {
    /// `performance`, `powersave`, `schedutil`, …
    pub name: String,
    /// The CPUs that have it.
    pub cpus: Vec<usize>,
}

/// A state that an idle CPU may sleep in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleState {
    /// `POLL`, `C1`, `C6`, …
    pub name: String,
    /// How long waking up takes at most, as the kernel has it.
    pub exit_latency_ns: u64,
    /// The CPUs that may use it.
    pub enabled_on: Vec<usize>,
}
