//! The processes of a service, and the CPU time of each.
//! A process's CPU clock counts nanoseconds; their division into user and system time the kernel counts in ticks.

use std::collections::BTreeMap;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::procfs::Proc;
use crate::sys::process_cpu_ns;

/// What one process has used since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ProcessCpu {
    /// All threads, ended ones included, children not.
    pub(crate) total_ns: u64,
    /// In ticks of 1/USER_HZ s: only its proportion to `system_ticks` matters.
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
}

/// A process, which is another one than a later process with its number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    number: i32,
    /// In ticks since the machine began.
    started: u64,
}

impl ProcessId {
    /// That of a living process.
    pub(crate) fn of(proc: &Proc, pid: Pid) -> Option<ProcessId> {
        let started = started(&proc.read(&format!("{pid}/stat"))?)?;
        Some(ProcessId { number: pid.as_raw_nonzero().get(), started })
    }

    pub(crate) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.number)
    }

    #[cfg(test)]
    pub(crate) fn new(number: i32, started: u64) -> ProcessId {
        ProcessId { number, started }
    }
}

/// `root` and all its living descendants, breadth first.
///
/// A process whose parent has ended belongs to init and is not found any more. Needs CONFIG_PROC_CHILDREN, which
/// distributions' kernels have; without it there is `root` alone.
pub(crate) fn tree(proc: &Proc, root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        for task in proc.ids_in(&format!("{pid}/task")) {
            let children = proc.read(&format!("{pid}/task/{task}/children")).unwrap_or_default();
            // A child of a thread is never the child of another, but the list is read while it changes.
            let new: Vec<Pid> = parse_pids(&children).filter(|child| !found.contains(child)).collect();
            found.extend(new);
        }
    }
    found
}

/// The process IDs in a text; 0, which stands for a process outside this PID namespace, is left out.
pub(crate) fn parse_pids(text: &str) -> impl Iterator<Item = Pid> {
    text.split_ascii_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok().filter(|pid| *pid > 0)?))
}

/// The CPU time of those of `pids` that still run; `None` if none does.
pub(crate) fn cpu_of(proc: &Proc, pids: &[Pid]) -> Option<BTreeMap<u32, ProcessCpu>> {
    let each = pids.iter().filter_map(|&pid| {
        let total_ns = process_cpu_ns(pid)?;
        let (user_ticks, system_ticks) = parse_stat(&proc.read(&format!("{pid}/stat"))?)?;
        Some((pid.as_raw_nonzero().get().unsigned_abs(), ProcessCpu { total_ns, user_ticks, system_ticks }))
    });
    let all: BTreeMap<_, _> = each.collect();
    (!all.is_empty()).then_some(all)
}

/// What the processes of `after` used since `before`. A process that began in between counts from zero; what one
/// that ended used in between is lost.
pub(crate) fn cpu_between(
    before: &BTreeMap<u32, ProcessCpu>,
    after: &BTreeMap<u32, ProcessCpu>,
) -> ProcessCpu {
    after.iter().fold(ProcessCpu::default(), |sum, (pid, now)| {
        // A clock that went backwards belongs to a new process with an old number.
        let then = before.get(pid).filter(|then| then.total_ns <= now.total_ns).copied().unwrap_or_default();
        ProcessCpu {
            total_ns: sum.total_ns.saturating_add(now.total_ns - then.total_ns),
            user_ticks: sum.user_ticks.saturating_add(now.user_ticks.saturating_sub(then.user_ticks)),
            system_ticks: sum.system_ticks.saturating_add(now.system_ticks.saturating_sub(then.system_ticks)),
        }
    })
}

/// `utime` and `stime`, fields 14 and 15 of `/proc/PID/stat` (proc_pid_stat(5)).
fn parse_stat(text: &str) -> Option<(u64, u64)> {
    let mut fields = after_name(text)?.skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// `starttime`, field 22.
fn started(text: &str) -> Option<u64> {
    after_name(text)?.nth(19)?.parse().ok()
}

/// The fields from the third on. The name, field 2, may itself hold spaces and parentheses; it ends at the last one.
fn after_name(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.rsplit_once(')')?.1.split_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str =
        "9561 (a) b (c) R 9556 9556 5763 0 -1 4194304 102 0 0 0 37 5 0 0 20 0 1 0 105782 3133440 385";

    #[test]
    fn a_recorded_file_is_read_past_a_name_with_parentheses() {
        assert_eq!(parse_stat(SAMPLE), Some((37, 5)));
        assert_eq!(started(SAMPLE), Some(105_782));
        assert_eq!(parse_stat("1 (init) S 0 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn process_ids_of_other_namespaces_are_left_out() {
        assert_eq!(
            parse_pids("12\n0\n34 x -5\n").map(|p| p.as_raw_nonzero().get()).collect::<Vec<_>>(),
            [12, 34]
        );
    }

    #[test]
    fn a_new_process_counts_from_zero_and_a_reused_number_does_too() {
        let cpu = |total_ns| ProcessCpu { total_ns, user_ticks: total_ns / 10, system_ticks: 0 };
        let before = BTreeMap::from([(1, cpu(100)), (2, cpu(500)), (3, cpu(900))]);
        let after = BTreeMap::from([(1, cpu(150)), (3, cpu(40)), (4, cpu(30))]);
        let used = cpu_between(&before, &after);
        assert_eq!(used, ProcessCpu { total_ns: 50 + 40 + 30, user_ticks: 5 + 4 + 3, system_ticks: 0 });
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = parse_stat(&text);
            let _ = started(&text);
            let _ = parse_pids(&text).count();
        }
    }
}
