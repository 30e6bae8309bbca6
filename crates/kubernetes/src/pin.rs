//! Pinning a container that the runtime started: all its threads, and those that it starts meanwhile.

use std::{fs, path::Path};

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use loadline_machine::{Cgroup, Error, ErrorContext};

/// Threads inherit the affinity of those that start them, so few rounds find a new one.
const MAX_ROUNDS: usize = 100;

/// The outcome of pinning.
pub(crate) enum Pinned {
    /// All threads are pinned.
    All,
    /// New threads kept appearing.
    NotAll,
    /// The cgroup has other CPUs.
    Elsewhere,
    /// The threads belong to another user.
    NotAllowed,
}

/// Restricts all threads in the cgroup to `cpus`, repeatedly until all are restricted.
pub(crate) fn pin(cgroup: &Cgroup, cpus: &[usize]) -> Result<Pinned, Error> {
    let mut wanted = CpuSet::new();
    cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| wanted.set(*cpu));
    let dir = match cgroup {
        Cgroup::V1 { cpuacct, .. } => cpuacct,
        Cgroup::V2 { dir } => dir,
    };
    for _ in 0..MAX_ROUNDS {
        let mut changed = 0;
        for thread in threads(dir)? {
            // A thread that has ended meanwhile needs no CPU.
            let Ok(now) = sched_getaffinity(Some(thread)) else { continue };
            if now != wanted {
                match sched_setaffinity(Some(thread), &wanted) {
                    Err(rustix::io::Errno::SRCH) => {}
                    Err(rustix::io::Errno::PERM) => return Ok(Pinned::NotAllowed),
                    // None of the CPUs is among the cgroup's (sched_setaffinity(2)).
                    Err(rustix::io::Errno::INVAL) => return Ok(Pinned::Elsewhere),
                    outcome => outcome.with_context(|| format!("pin a thread to the CPUs {cpus:?}"))?,
                }
                // If the cgroup has only some of the CPUs, the kernel uses those.
                if sched_getaffinity(Some(thread)).is_ok_and(|now| now != wanted) {
                    return Ok(Pinned::Elsewhere);
                }
                changed += 1;
            }
        }
        if changed == 0 {
            return Ok(Pinned::All);
        }
    }
    Ok(Pinned::NotAll)
}

fn threads(cgroup: &Path) -> Result<Vec<Pid>, Error> {
    let path = cgroup.join("cgroup.procs");
    let processes = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let tasks = processes.lines().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    Ok(tasks.filter_map(|task| Pid::from_raw(task.ok()?.file_name().to_str()?.parse().ok()?)).collect())
}
