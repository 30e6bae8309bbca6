//! Where the time of all CPUs together went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU time by mode, in nanoseconds summed over all CPUs; source: the `cpu` line of `/proc/stat` (proc_stat(5)).
///
/// Time spent for virtual machines on this machine is part of `user_ns` and `nice_ns`, as the kernel has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineCpu {
    /// Programs at normal priority.
    pub user_ns: u64,
    /// Programs at lowered priority.
    pub nice_ns: u64,
    /// The kernel on behalf of programs.
    pub system_ns: u64,
    /// Nothing to do.
    pub idle_ns: u64,
    /// Nothing to do but wait for a disk; the kernel's own documentation calls it unreliable.
    pub iowait_ns: u64,
    /// Hardware interrupts.
    pub irq_ns: u64,
    /// Soft interrupts.
    pub softirq_ns: u64,
    /// Ready to run, but the hypervisor ran somebody else.
    pub steal_ns: u64,
}

impl MachineCpu {
    /// Time in which this machine's CPUs did work: user, nice, system, irq and softirq; stolen time is not.
    pub fn busy_ns(&self) -> u64 {
        [self.user_ns, self.nice_ns, self.system_ns, self.irq_ns, self.softirq_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The modes by the names of their metrics.
    pub fn by_name(&self) -> [(&'static str, u64); 8] {
        [
            ("cpu.machine.user", self.user_ns),
            ("cpu.machine.nice", self.nice_ns),
            ("cpu.machine.system", self.system_ns),
            ("cpu.machine.idle", self.idle_ns),
            ("cpu.machine.iowait", self.iowait_ns),
            ("cpu.machine.irq", self.irq_ns),
            ("cpu.machine.softirq", self.softirq_ns),
            ("cpu.machine.steal", self.steal_ns),
        ]
    }

    /// The same from the values of its metrics; `None` if one is missing.
    pub fn from_names(value_ns: impl Fn(&str) -> Option<u64>) -> Option<MachineCpu> {
        Some(MachineCpu {
            user_ns: value_ns("cpu.machine.user")?,
            nice_ns: value_ns("cpu.machine.nice")?,
            system_ns: value_ns("cpu.machine.system")?,
            idle_ns: value_ns("cpu.machine.idle")?,
            iowait_ns: value_ns("cpu.machine.iowait")?,
            irq_ns: value_ns("cpu.machine.irq")?,
            softirq_ns: value_ns("cpu.machine.softirq")?,
            steal_ns: value_ns("cpu.machine.steal")?,
        })
    }

    /// Whether a metric is one of the modes.
    pub(crate) fn is_mode(metric: &str) -> bool {
        MachineCpu::default().by_name().iter().any(|(name, _)| *name == metric)
    }

    /// What was added since `before`. A mode that ran backwards, as idle and iowait may, counts as zero.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            nice_ns: self.nice_ns.saturating_sub(before.nice_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            idle_ns: self.idle_ns.saturating_sub(before.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(before.iowait_ns),
            irq_ns: self.irq_ns.saturating_sub(before.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(before.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_ran_backwards_counts_as_zero() {
        let before = MachineCpu { idle_ns: 10, user_ns: 5, ..MachineCpu::default() };
        let after = MachineCpu { idle_ns: 9, user_ns: 7, ..MachineCpu::default() };
        assert_eq!(after.since(&before), MachineCpu { user_ns: 2, ..MachineCpu::default() });
    }
}
