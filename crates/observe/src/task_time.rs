//! For how long tasks ran on some CPUs, to the nanosecond. `/proc/stat` would say it in ticks of 10 ms, which are a tenth of a short slice.
//!
//! Read from `/proc/schedstat` (the seventh figure of a CPU's line, Documentation/scheduler/sched-stats.rst) or, of a kernel without it, from
//! `cpuacct.usage_percpu` of cgroup v1 (Documentation/admin-guide/cgroup-v1/cpuacct.rst).

use std::time::Duration;

use crate::procfs::{Proc, read};

const USAGE_BY_CPU: &str = "/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu";

/// Reads the time of all tasks on some CPUs of this machine, but for the kernel's threads that handle soft interrupts: these work for
/// whatever sends and receives there.
pub struct TaskTime {
    proc: Proc,
    cpus: Vec<usize>,
    soft_interrupts: Vec<u32>,
}

impl TaskTime {
    /// Of these CPUs.
    pub fn on(cpus: &[usize]) -> TaskTime {
        let proc = Proc::default();
        let names: Vec<String> = cpus.iter().map(|cpu| format!("ksoftirqd/{cpu}")).collect();
        let is_one = |pid: &u32| {
            let name = proc.read(&format!("{pid}/comm")).unwrap_or_default();
            names.iter().any(|of_cpu| of_cpu == name.trim_end())
        };
        let soft_interrupts = proc.ids_in("").into_iter().filter(is_one).collect();
        TaskTime { proc, cpus: cpus.to_vec(), soft_interrupts }
    }

    /// The time until now; `None` where the kernel does not tell it.
    pub fn read(&self) -> Option<Duration> {
        let by_schedstat = || times_of_cpus(&self.proc.read("schedstat")?, &self.cpus);
        let tasks_ns = by_schedstat().or_else(|| usage_of_cpus(&read(USAGE_BY_CPU)?, &self.cpus))?;
        let of_thread = |pid: &u32| first_number(&self.proc.read(&format!("{pid}/schedstat"))?);
        let soft_interrupts_ns: u64 = self.soft_interrupts.iter().filter_map(of_thread).sum();
        Some(Duration::from_nanos(tasks_ns.saturating_sub(soft_interrupts_ns)))
    }
}

/// `cpu0 0 0 0 0 0 0 3857805772871 …`, a line for each CPU.
fn times_of_cpus(text: &str, cpus: &[usize]) -> Option<u64> {
    let of_cpu = |cpu: &usize| {
        let mut lines = text.lines().map(str::split_ascii_whitespace);
        let mut figures = lines.find(|words| words.clone().next() == Some(&format!("cpu{cpu}")))?;
        figures.nth(7)?.parse::<u64>().ok()
    };
    cpus.iter().map(of_cpu).try_fold(0_u64, |sum, ns| sum.checked_add(ns?))
}

/// `3857805772871 3981327001040`, a figure for each CPU.
fn usage_of_cpus(text: &str, cpus: &[usize]) -> Option<u64> {
    let of_cpu = |cpu: &usize| text.split_ascii_whitespace().nth(*cpu)?.parse::<u64>().ok();
    cpus.iter().map(of_cpu).try_fold(0_u64, |sum, ns| sum.checked_add(ns?))
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
    fn the_time_of_some_cpus_is_summed_up() {
        assert_eq!(times_of_cpus(SCHEDSTAT, &[1]), Some(55_130_156_932));
        assert_eq!(times_of_cpus(SCHEDSTAT, &[0, 10]), Some(599_048_857_397));
        assert_eq!(usage_of_cpus("12 30 7 \n", &[2, 0]), Some(19));
    }

    #[test]
    fn a_cpu_that_is_not_there_has_no_time() {
        assert_eq!(times_of_cpus(SCHEDSTAT, &[0, 2]), None);
        assert_eq!(usage_of_cpus("12 30\n", &[2]), None);
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
            let _ = (times_of_cpus(&text, &[0, 1]), usage_of_cpus(&text, &[0, 1]), first_number(&text));
        }
    }
}
