//! What a service may use, and what a pod reserves.

use loadline_model::platform::Limits;

use crate::kinds::{number, size};
use crate::options::Table;

/// Less than this, and the kernel kills most programs before they run (a static Go binary alone maps more).
const MIN_MEMORY_BYTES: u64 = 4 << 20;
/// More than any machine has.
const MAX_MEMORY_BYTES: u64 = 64 << 40;
/// The scheduler accepts no quota below 1 ms in a period of 100 ms (kernel/sched/core.c, min_cfs_quota_period).
const MIN_CPUS: f64 = 0.01;
/// More than any machine has.
const MAX_CPUS: f64 = 1024.0;

/// Without flags: limits stand in several places of an experiment.
pub(crate) fn table() -> Table<Limits> {
    Table::<Limits>::new("Limits", "limits", "What a service may use")
        .key(
            "cpu",
            number("CPUs", MIN_CPUS, MAX_CPUS, "write 1 or 0.5").placeholder("CPUS"),
            "Number of CPUs, fractions allowed: 1, 0.5",
            |limits| &mut limits.cpus,
        )
        .key(
            "memory",
            size("memory", MIN_MEMORY_BYTES, MAX_MEMORY_BYTES),
            "Amount of memory: 512Mi",
            |limits| &mut limits.memory_bytes,
        )
}
