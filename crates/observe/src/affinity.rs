//! Where processes may run.

use std::collections::BTreeSet;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

/// The CPUs that any of these processes may run on, by their main threads (sched_getaffinity(2)); one that has ended has none.
pub fn cpus_of(pids: &[u32]) -> BTreeSet<usize> {
    let affinity = |pid: &u32| sched_getaffinity(Some(Pid::from_raw(i32::try_from(*pid).ok()?)?)).ok();
    let allowed: Vec<CpuSet> = pids.iter().filter_map(affinity).collect();
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.iter().any(|set| set.is_set(*cpu))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::sched_setaffinity;

    #[test]
    fn a_process_may_run_where_its_affinity_says_and_one_that_has_ended_nowhere() {
        let own = std::process::id();
        let all = cpus_of(&[own]);
        let last = *all.last().expect("a CPU");
        // A child inherits the affinity of the thread that starts it.
        let pinned = std::thread::spawn(move || {
            let mut only = CpuSet::new();
            only.set(last);
            sched_setaffinity(None, &only).expect("a CPU of its own");
            std::process::Command::new("sleep").arg("60").spawn().expect("sleep")
        });
        let mut child = pinned.join().expect("a child");
        assert_eq!(cpus_of(&[child.id()]), BTreeSet::from([last]));
        assert_eq!(cpus_of(&[own, child.id()]), all);
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        assert!(cpus_of(&[child.id()]).is_empty());
    }
}
