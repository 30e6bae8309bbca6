//! What kind of machine a run took place on: all that is needed to judge its figures later.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A description of a machine; what it does not tell is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `uname -n`.
    pub hostname: Option<String>,
    /// `PRETTY_NAME` of os-release(5).
    pub distribution: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// `uname -m`.
    pub architecture: Option<String>,
    /// `model name` of the first CPU in `/proc/cpuinfo`; not there on every architecture.
    pub cpu_model: Option<String>,
    /// Number of CPUs online.
    pub cpus: Option<u32>,
    /// The CPUs online as the kernel lists them, such as `0-3,8`.
    pub online_cpus: Option<String>,
    /// `on`, `off`, `forceoff`, `notsupported` or `notimplemented`: `/sys/devices/system/cpu/smt/control`.
    pub smt: Option<String>,
    /// Frequency governor of the first CPU; `None` where the kernel does not set the frequency, as in most virtual machines.
    pub governor: Option<String>,
    /// For each known weakness of CPUs, what the kernel does about it: `/sys/devices/system/cpu/vulnerabilities`.
    pub mitigations: BTreeMap<String, String>,
    /// Who made the virtual machine that this is, `unknown` if it does not say, `None` on bare metal.
    pub hypervisor: Option<String>,
    /// `MemTotal` in `/proc/meminfo`.
    pub memory_bytes: Option<u64>,
    /// The versions of cgroup that are mounted, in ascending order.
    pub cgroup_versions: Vec<u8>,
    /// What the kernel tells the time by, such as `tsc`.
    pub clocksource: Option<String>,
    /// Whether the time of interrupts, soft ones too, is kept apart from that of the process they interrupt
    /// (`CONFIG_IRQ_TIME_ACCOUNTING`), so that CPU per request leaves it out; `None` where the kernel's configuration is not at hand.
    pub interrupt_time_apart: Option<bool>,
    /// `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    /// Differs after each boot.
    pub boot_id: Option<String>,
}
