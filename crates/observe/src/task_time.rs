//! For how long tasks ran, to the nanosecond. `/proc/stat` would say it in ticks of 10 ms, which are a tenth of a short slice, and what it
//! does not count as idle includes waking a CPU up.
//!
//! Read from `/proc/schedstat` (the seventh figure of a CPU's line, Documentation/scheduler/sched-stats.rst) or, of a kernel without it, from
//! `cpuacct.usage_percpu` of cgroup v1 (Documentation/admin-guide/cgroup-v1/cpuacct.rst).

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::procfs::{Proc, read};

const ROOT_CGROUP: &str = "/sys/fs/cgroup/cpuacct";

/// Reads the time of all tasks on some CPUs of this machine, but for the kernel's threads that handle soft interrupts: these work for
/// whatever sends and receives there.
pub struct TaskTime {
    proc: Proc,
    /// All of the machine if `None`.
    cpus: Option<Vec<usize>>,
    soft_interrupts: Vec<u32>,
}

impl TaskTime {
    /// Of these CPUs.
    pub fn on(cpus: &[usize]) -> TaskTime {
        TaskTime::of(Proc::default(), Some(cpus.to_vec()))
    }

    /// Of all CPUs of a machine. `/proc/schedstat` does not tell it: what a task uses is added up there when the task leaves its CPU, with
    /// the time that a hypervisor took meanwhile (kernel/sched/stats.h, `sched_info_depart`).
    pub(crate) fn of_machine(proc: &Proc) -> TaskTime {
        TaskTime::of(proc.clone(), None)
    }

    fn of(proc: Proc, cpus: Option<Vec<usize>>) -> TaskTime {
        let is_one = |pid: &u32| {
            let name = proc.read(&format!("{pid}/comm")).unwrap_or_default();
            let cpu = name.strip_prefix("ksoftirqd/").and_then(|cpu| cpu.trim_end().parse().ok());
            cpu.is_some_and(|cpu| cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu)))
        };
        let soft_interrupts = proc.ids_in("").into_iter().filter(is_one).collect();
        TaskTime { proc, cpus, soft_interrupts }
    }

    /// The time until now; `None` where the kernel does not tell it.
    pub fn read(&self) -> Option<Duration> {
        let by_schedstat = || times_by_cpu(&self.proc.read("schedstat")?);
        let by_usage = || usage_by_cpu(&usage_of_all().filter(|_| self.proc == Proc::default())?);
        let tasks_ns = match &self.cpus {
            Some(cpus) => {
                let by_cpu = by_schedstat().or_else(by_usage)?;
                sum(cpus.iter().map(|cpu| by_cpu.get(cpu)))?
            }
            None => sum(by_usage()?.values().map(Some))?,
        };
        let of_thread = |pid: &u32| first_number(&self.proc.read(&format!("{pid}/schedstat"))?);
        let soft_interrupts_ns: u64 = self.soft_interrupts.iter().filter_map(of_thread).sum();
        Some(Duration::from_nanos(tasks_ns.saturating_sub(soft_interrupts_ns)))
    }
}

/// Only the root cgroup counts all tasks. A container sees its own in that place, which has no `release_agent` (cgroups(7)).
fn usage_of_all() -> Option<String> {
    let root = Path::new(ROOT_CGROUP);
    root.join("release_agent").exists().then(|| read(root.join("cpuacct.usage_percpu")))?
}

/// `cpu0 0 0 0 0 0 0 3857805772871 …`, a line for each CPU.
fn times_by_cpu(text: &str) -> Option<BTreeMap<usize, u64>> {
    let of_cpu = |line: &str| {
        let (cpu, figures) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((cpu.parse().ok()?, figures.split_ascii_whitespace().nth(6)?.parse().ok()?))
    };
    let by_cpu: BTreeMap<usize, u64> = text.lines().filter_map(of_cpu).collect();
    (!by_cpu.is_empty()).then_some(by_cpu)
}

/// `3857805772871 3981327001040`, a figure for each CPU.
fn usage_by_cpu(text: &str) -> Option<BTreeMap<usize, u64>> {
    text.split_ascii_whitespace()
        .map(|figure| figure.parse().ok())
        .enumerate()
        .map(|(cpu, ns)| Some((cpu, ns?)))
        .collect()
}

/// `None` if one is missing.
fn sum<'a>(times: impl Iterator<Item = Option<&'a u64>>) -> Option<u64> {
    times.into_iter().try_fold(0_u64, |sum, ns| sum.checked_add(*ns?))
}

fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCHEDSTAT: &str = "\
version 17
timestamp 4295221236
cpu0 0 0 0 0 0 0 599048857390 1042 7731
domain0 MC 3 0 0
cpu1 0 0 0 0 0 0 55130156932 99 12
cpu10 0 0 0 0 0 0 7 8 9
";

    #[test]
    fn each_cpu_has_its_time() {
        let expected = BTreeMap::from([(0, 599_048_857_390), (1, 55_130_156_932), (10, 7)]);
        assert_eq!(times_by_cpu(SCHEDSTAT), Some(expected));
        assert_eq!(usage_by_cpu("12 30 7 \n"), Some(BTreeMap::from([(0, 12), (1, 30), (2, 7)])));
        assert_eq!(times_by_cpu("version 17\n"), None);
        assert_eq!(usage_by_cpu("12 many\n"), None);
    }

    #[test]
    fn soft_interrupts_do_not_count_and_a_cpu_that_is_not_there_has_no_time() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::write(proc.path().join("schedstat"), SCHEDSTAT).unwrap();
        for (pid, name) in [("14", "ksoftirqd/0"), ("20", "ksoftirqd/10"), ("21", "kworker/0:1")] {
            std::fs::create_dir(proc.path().join(pid)).unwrap();
            std::fs::write(proc.path().join(pid).join("comm"), format!("{name}\n")).unwrap();
            std::fs::write(proc.path().join(pid).join("schedstat"), "5 0 1\n").unwrap();
        }
        let proc = Proc::at(proc.path());
        let ns = |tasks: TaskTime| tasks.read().map(|time| time.as_nanos());
        assert_eq!(ns(TaskTime::of(proc.clone(), Some(vec![0, 10]))), Some(599_048_857_397 - 10));
        assert_eq!(ns(TaskTime::of(proc.clone(), Some(vec![1]))), Some(55_130_156_932));
        assert_eq!(ns(TaskTime::of(proc.clone(), Some(vec![0, 2]))), None);
        assert_eq!(ns(TaskTime::of_machine(&proc)), None, "schedstat does not tell it");
    }

    #[test]
    fn a_task_on_this_machine_is_among_all_of_it() {
        let machine = TaskTime::of_machine(&Proc::default());
        let Some(before) = machine.read() else {
            assert!(!Path::new(ROOT_CGROUP).join("release_agent").exists(), "cgroup v1 tells it");
            return;
        };
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(30) {}
        let ran = machine.read().expect("as before") - before;
        assert!(ran > Duration::from_millis(1), "{ran:?}");
    }

    #[test]
    fn a_task_on_this_machine_takes_time() {
        let cpus = crate::cpus_of(&[std::process::id()]).into_iter().collect::<Vec<usize>>();
        let tasks = TaskTime::on(&cpus);
        // A kernel without schedstat and cgroup v1 doesn't tell.
        let Some(before) = tasks.read() else { return };
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(30) {}
        std::thread::sleep(Duration::from_millis(1));
        let ran = tasks.read().expect("as before") - before;
        assert!(ran > Duration::from_millis(1), "{ran:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(cpu[0-3] |[0-9]{1,25} |\n|.){0,40}") {
            let _ = (times_by_cpu(&text), usage_by_cpu(&text), first_number(&text));
        }
    }
}
