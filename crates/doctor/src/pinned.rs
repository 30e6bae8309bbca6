//! Threads that stay on their CPU.

use rustix::thread::{CpuSet, sched_setaffinity};

/// Keeps the calling thread on a CPU.
pub(crate) fn pin(cpu: usize) -> rustix::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)
}
