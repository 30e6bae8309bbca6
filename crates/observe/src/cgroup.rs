//! The cgroup of a service: CPU time, throttling and memory as the kernel charges them to it, in either version. Probes read one each.
//! The figures include processes that have ended, so they are the best there is where a cgroup exists.

use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::process::parse_pids;
use crate::procfs::{self, Proc, number_after};

/// Where a service's cgroup is, as absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroup {
    /// Version 1: one directory in each hierarchy (Documentation/admin-guide/cgroup-v1).
    V1 {
        /// In the `cpu` hierarchy: the throttling, and which processes are in the cgroup.
        cpu: PathBuf,
        /// In the `cpuacct` hierarchy: the CPU time.
        cpuacct: PathBuf,
        /// In the `memory` hierarchy, where there is one.
        memory: Option<PathBuf>,
    },
    /// Version 2: one directory for all (Documentation/admin-guide/cgroup-v2.rst).
    V2 {
        /// The cgroup's directory.
        dir: PathBuf,
    },
}

/// CPU time charged to a cgroup and those below it since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CpuUsage {
    pub(crate) total_ns: u64,
    /// In v1 sampled at each tick (kernel/sched/cpuacct.c), so only its proportion to `system_ns` is used.
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// What CPU quotas did since the cgroup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Throttling {
    /// Periods in which the cgroup had something to run.
    pub(crate) periods: u64,
    /// Periods in which a quota was used up; one in which two were counts twice.
    pub(crate) throttled_periods: u64,
    /// Time that it was held back, summed over CPUs.
    pub(crate) throttled_ns: u64,
}

/// Memory charged to a cgroup, page cache included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CgroupMemory {
    pub(crate) now_bytes: Option<u64>,
    /// The most since the cgroup was made; v2 has it from Linux 5.19 on.
    pub(crate) peak_bytes: Option<u64>,
}

/// What tasks wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// A CPU.
    Cpu,
    /// Memory that has to be freed or read again first.
    Memory,
    /// A disk.
    Io,
}

impl Resource {
    /// Its name in the kernel's files.
    fn name(self) -> &'static str {
        match self {
            Resource::Cpu => "cpu",
            Resource::Memory => "memory",
            Resource::Io => "io",
        }
    }
}

impl Cgroup {
    /// The CPU time charged to it.
    pub(crate) fn cpu(&self) -> Option<CpuUsage> {
        match self {
            Self::V1 { cpuacct, .. } => read_v1_cpu(cpuacct),
            Self::V2 { dir } => parse_v2_cpu(&procfs::read(dir.join("cpu.stat"))?),
        }
    }

    /// What its quota did, and those of the cgroups above it; `None` in version 2 where the `cpu` controller is enabled for none of them. The kubelet
    /// gives a pod's cgroup the quotas of its containers together, so that of one container either may run out first.
    pub(crate) fn throttling(&self) -> Option<Throttling> {
        let (dir, parse): (&Path, fn(&str) -> Option<Throttling>) = match self {
            Self::V1 { cpu, .. } => (cpu, parse_v1_throttling),
            Self::V2 { dir } => (dir, parse_v2_throttling),
        };
        let levels = dir.ancestors().map_while(|dir| procfs::read(dir.join("cpu.stat")));
        levels.filter_map(|text| parse(&text)).reduce(|one, above| Throttling {
            periods: one.periods.max(above.periods),
            throttled_periods: one.throttled_periods.saturating_add(above.throttled_periods),
            throttled_ns: one.throttled_ns.saturating_add(above.throttled_ns),
        })
    }

    /// The memory charged to it.
    pub(crate) fn memory(&self) -> CgroupMemory {
        let (dir, now, peak) = match self {
            Self::V1 { memory: None, .. } => return CgroupMemory::default(),
            Self::V1 { memory: Some(dir), .. } => (dir, "memory.usage_in_bytes", "memory.max_usage_in_bytes"),
            Self::V2 { dir } => (dir, "memory.current", "memory.peak"),
        };
        CgroupMemory {
            now_bytes: procfs::read_number(dir.join(now)),
            peak_bytes: procfs::read_number(dir.join(peak)),
        }
    }

    /// The time in which at least one of its tasks waited for a resource since it was made, ns; version 2 alone has it.
    pub(crate) fn pressure(&self, on: Resource) -> Option<u64> {
        let Self::V2 { dir } = self else { return None };
        parse_pressure(&procfs::read(dir.join(format!("{}.pressure", on.name())))?)
    }

    /// The processes directly in the cgroup; those in cgroups below it are not looked for.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let dir = match self {
            Self::V1 { cpu, .. } => cpu,
            Self::V2 { dir } => dir,
        };
        parse_pids(&procfs::read(dir.join("cgroup.procs")).unwrap_or_default()).collect()
    }
}

/// The time in which at least one task of the machine waited for a resource since it was started, ns.
pub(crate) fn pressure_on_machine(proc: &Proc, on: Resource) -> Option<u64> {
    parse_pressure(&proc.read(&format!("pressure/{}", on.name()))?)
}

fn read_v1_cpu(cpuacct: &Path) -> Option<CpuUsage> {
    Some(CpuUsage {
        total_ns: procfs::read_number(cpuacct.join("cpuacct.usage"))?,
        user_ns: procfs::read_number(cpuacct.join("cpuacct.usage_user"))?,
        system_ns: procfs::read_number(cpuacct.join("cpuacct.usage_sys"))?,
    })
}

fn parse_v1_throttling(text: &str) -> Option<Throttling> {
    Some(Throttling {
        periods: number_after(text, "nr_periods")?,
        throttled_periods: number_after(text, "nr_throttled")?,
        throttled_ns: number_after(text, "throttled_time")?,
    })
}

/// Microseconds in the file.
fn parse_v2_cpu(text: &str) -> Option<CpuUsage> {
    let ns = |key| number_after(text, key)?.checked_mul(1_000);
    Some(CpuUsage { total_ns: ns("usage_usec")?, user_ns: ns("user_usec")?, system_ns: ns("system_usec")? })
}

/// Its lines are there only where the `cpu` controller is enabled.
fn parse_v2_throttling(text: &str) -> Option<Throttling> {
    Some(Throttling {
        periods: number_after(text, "nr_periods")?,
        throttled_periods: number_after(text, "nr_throttled")?,
        throttled_ns: number_after(text, "throttled_usec")?.checked_mul(1_000)?,
    })
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=1286136`: microseconds.
fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::io;

    const V2_STAT: &str = "\
usage_usec 5713482
user_usec 4412007
system_usec 1301475
nice_usec 0
core_sched.force_idle_usec 0
nr_periods 213
nr_throttled 42
throttled_usec 1803311
nr_bursts 0
burst_usec 0
";

    #[test]
    fn a_recorded_v2_tree_is_read() -> io::Result<()> {
        let tree = tempfile::tempdir()?;
        fs::write(tree.path().join("cpu.stat"), V2_STAT)?;
        fs::write(tree.path().join("memory.current"), "12587008\n")?;
        fs::write(tree.path().join("memory.peak"), "20971520\n")?;
        fs::write(tree.path().join("cgroup.procs"), "4711\n4712\n")?;
        let cgroup = Cgroup::V2 { dir: tree.path().to_owned() };
        let cpu = CpuUsage { total_ns: 5_713_482_000, user_ns: 4_412_007_000, system_ns: 1_301_475_000 };
        assert_eq!(cgroup.cpu(), Some(cpu));
        let throttling = Throttling { periods: 213, throttled_periods: 42, throttled_ns: 1_803_311_000 };
        assert_eq!(cgroup.throttling(), Some(throttling));
        let memory = CgroupMemory { now_bytes: Some(12_587_008), peak_bytes: Some(20_971_520) };
        assert_eq!(cgroup.memory(), memory);
        assert_eq!((cgroup.pressure(Resource::Cpu), cgroup.pressure(Resource::Memory)), (None, None));
        assert_eq!(cgroup.processes().len(), 2);
        Ok(())
    }

    #[test]
    fn v2_without_the_cpu_controller_has_cpu_time_and_no_throttling() {
        let stat = "usage_usec 10\nuser_usec 7\nsystem_usec 3\n";
        assert_eq!(parse_v2_cpu(stat), Some(CpuUsage { total_ns: 10_000, user_ns: 7_000, system_ns: 3_000 }));
        assert_eq!(parse_v2_throttling(stat), None);
    }

    #[test]
    fn recorded_v1_throttling_is_read_in_nanoseconds() {
        let stat = "nr_periods 31\nnr_throttled 30\nthrottled_time 2402338951\nnr_bursts 0\nburst_time 0\n";
        let expected = Throttling { periods: 31, throttled_periods: 30, throttled_ns: 2_402_338_951 };
        assert_eq!(parse_v1_throttling(stat), Some(expected));
    }

    #[test]
    fn what_quotas_above_it_did_is_added() -> io::Result<()> {
        let pod = tempfile::tempdir()?;
        let container = pod.path().join("container");
        fs::create_dir(&container)?;
        let stat = |dir: &Path, periods: u32, throttled: u32, ns: u32| {
            let text = format!("nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time {ns}\n");
            fs::write(dir.join("cpu.stat"), text)
        };
        stat(pod.path(), 30, 5, 700)?;
        stat(&container, 29, 3, 200)?;
        let throttling = Cgroup::V1 { cpu: container.clone(), cpuacct: container, memory: None }.throttling();
        assert_eq!(throttling, Some(Throttling { periods: 30, throttled_periods: 8, throttled_ns: 900 }));
        Ok(())
    }

    #[test]
    fn recorded_pressure_is_read_in_nanoseconds() {
        let text = "some avg10=55.08 avg60=53.56 avg300=57.07 total=1286136319\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse_pressure(text), Some(1_286_136_319_000));
        assert_eq!(parse_pressure("full avg10=0.00 total=7\n"), None);
    }

    #[test]
    fn the_pressure_on_a_machine_is_read_by_resource() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        fs::create_dir(root.path().join("pressure"))?;
        fs::write(root.path().join("pressure/io"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n")?;
        let proc = Proc::at(root.path());
        assert_eq!(pressure_on_machine(&proc, Resource::Io), Some(12_000));
        assert_eq!(pressure_on_machine(&proc, Resource::Memory), None);
        Ok(())
    }

    #[test]
    fn a_cgroup_that_is_gone_reads_as_nothing() {
        let gone = PathBuf::from("/sys/fs/cgroup/no-such-cgroup");
        let v1 = Cgroup::V1 { cpu: gone.clone(), cpuacct: gone.clone(), memory: Some(gone.clone()) };
        for cgroup in [v1, Cgroup::V2 { dir: gone }] {
            assert_eq!((cgroup.cpu(), cgroup.throttling()), (None, None));
            assert_eq!(cgroup.memory(), CgroupMemory::default());
            assert!(cgroup.processes().is_empty());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*", n: u64) {
            let _ = (parse_v1_throttling(&text), parse_v2_cpu(&text), parse_v2_throttling(&text));
            let _ = (parse_pressure(&text), parse_pressure(&format!("some total={n}")));
            let _ = parse_v2_cpu(&format!("usage_usec {n}\nuser_usec {n}\nsystem_usec {n}"));
        }
    }
}
