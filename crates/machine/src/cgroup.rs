//! Control groups: where this machine keeps them, and one group per deployment for accounting and limits.
//! Both kinds are supported: the hierarchies of version 1 and the single one of version 2 (`cgroups(7)`).

mod v1;
mod v2;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use loadline_model::platform::Limits;
use rustix::fs::{Access, access};

use crate::{
    error::{Error, ErrorContext},
    owner::Owner,
    processes::{KILL_TIMEOUT, kill_all},
    run_name::RunName,
    wait::{self, SHORT_INTERVAL},
};

/// CPU quotas are per period of this length, the kernel's default, which Docker and the kubelet use as well.
pub const CPU_PERIOD_US: u64 = 100_000;
/// The smallest quota that the kernel accepts (`min_cfs_quota_period` in kernel/sched/core.c).
const MIN_CPU_QUOTA_US: u64 = 1_000;

/// The control group of a deployment, as the folders that its counters are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cgroup {
    /// One folder per controller; the same folder twice where controllers are mounted together.
    V1 {
        /// `cpu.stat` with throttling, `cpu.cfs_quota_us`.
        cpu: PathBuf,
        /// `cpuacct.usage` and its parts, in nanoseconds.
        cpuacct: PathBuf,
        /// `cpuset.cpus`, where that hierarchy exists.
        cpuset: Option<PathBuf>,
        /// `memory.usage_in_bytes` and the like, where that hierarchy exists.
        memory: Option<PathBuf>,
    },
    /// One folder for everything.
    V2 {
        /// `cpu.stat`, `memory.current` and the like, as far as their controllers are enabled.
        dir: PathBuf,
    },
}

/// Where the cgroups of runs are created on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    V1(v1::Tree),
    V2(v2::Tree),
}

/// As much of a requested cgroup as could be created.
#[derive(Debug)]
pub struct Created {
    /// The group, if one could be created.
    pub cgroup: Option<Cgroup>,
    /// One sentence for each part that is missing.
    pub left_out: Vec<String>,
}

impl Tree {
    /// Reads this process's mounts and cgroups. Version 1 is preferred where both exist and it has the CPU controller:
    /// a controller belongs to one version at a time.
    pub fn detect() -> Result<Option<Tree>, Error> {
        let mounts =
            fs::read_to_string("/proc/self/mountinfo").with_context(|| "read /proc/self/mountinfo")?;
        let own = fs::read_to_string("/proc/self/cgroup").with_context(|| "read /proc/self/cgroup")?;
        let v1 = v1::Tree::from_mounts(&mounts).map(Tree::V1);
        Ok(v1.or_else(|| v2::Tree::from_mounts(&mounts, &own).map(Tree::V2)))
    }

    /// The folders that contain all cgroups of a run.
    pub fn tops(&self, run: RunName) -> Vec<PathBuf> {
        let top = Owner::run(run).cgroup();
        match self {
            Tree::V1(tree) => tree.roots().into_iter().map(|root| root.join(&top)).collect(),
            Tree::V2(tree) => vec![tree.base().join(&top)],
        }
    }

    /// Creates the owner's cgroup, with `cpus` (if any) and `limits`.
    /// A lack of permission is not an error; it is reported in [`Created::left_out`].
    pub fn make(&self, owner: &Owner, cpus: &[usize], limits: &Limits) -> Result<Created, Error> {
        check(limits)?;
        let made = match self {
            Tree::V1(tree) => tree.make(owner, cpus, limits),
            Tree::V2(tree) => tree.make(owner, cpus, limits),
        };
        match made {
            Err(Error::System { source, .. }) if is_refusal(&source) => {
                Ok(Created { cgroup: None, left_out: vec![NOT_WRITABLE.to_owned()] })
            }
            made => made,
        }
    }
}

/// Why there is no cgroup, and how to get one.
pub const NOT_WRITABLE: &str = "CPU and memory are neither limited nor accounted for: this user cannot write to cgroups; run as root, or under `systemd-run --user --scope -p Delegate=yes` on a machine with cgroup v2";

/// Whether this process may create cgroups, which limits need.
///
/// # Errors
/// When its mounts and cgroups cannot be read.
pub fn may_create_cgroups() -> Result<bool, Error> {
    let may_write = |folder: &Path| access(folder, Access::WRITE_OK).is_ok();
    Ok(match Tree::detect()? {
        None => false,
        Some(Tree::V1(tree)) => tree.roots().iter().all(|root| may_write(root)),
        Some(Tree::V2(tree)) => may_write(tree.base()),
    })
}

impl Cgroup {
    /// The cgroup of a process, from this process's `/proc/self/mountinfo` and the other's `/proc/PID/cgroup`.
    pub(crate) fn of_process(mounts: &str, groups: &str) -> Option<Cgroup> {
        let v1 = v1::Tree::from_mounts(mounts).and_then(|tree| tree.cgroup_of(groups));
        v1.or_else(|| v2::cgroup_of(mounts, groups))
    }

    /// The `cgroup.procs` files, open for joining.
    pub(crate) fn open_procs(&self) -> Result<Vec<File>, Error> {
        let open = |dir: &PathBuf| {
            let procs = dir.join("cgroup.procs");
            OpenOptions::new().write(true).open(&procs).with_context(|| format!("open {}", procs.display()))
        };
        self.dirs().iter().map(open).collect()
    }

    /// Each folder once.
    fn dirs(&self) -> Vec<PathBuf> {
        let mut dirs = match self {
            Cgroup::V1 { cpu, cpuacct, cpuset, memory } => {
                [Some(cpu), Some(cpuacct), cpuset.as_ref(), memory.as_ref()]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect()
            }
            Cgroup::V2 { dir } => vec![dir.clone()],
        };
        dirs.sort();
        dirs.dedup();
        dirs
    }
}

/// Kills the processes in the cgroup `dir` and below, and removes it all. Returns whether it existed.
pub(crate) fn remove(dir: &Path) -> Result<bool, Error> {
    if !dir.join("cgroup.procs").exists() {
        return Ok(false);
    }
    v2::leave(dir)?;
    for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path())?;
        }
    }
    // All at once where the kernel supports it (5.14); otherwise one by one.
    let _ = OpenOptions::new()
        .write(true)
        .open(dir.join("cgroup.kill"))
        .and_then(|f| io::Write::write(&mut &f, b"1"));
    let members = || {
        let procs = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        procs.lines().filter_map(|line| line.parse().ok()).collect()
    };
    if !kill_all(members) {
        return Err(Error::Remains { what: format!("the processes in {}", dir.display()) });
    }
    // A killed process remains a member until the kernel has released it.
    let was_there = |error: &io::Error| error.kind() != io::ErrorKind::NotFound;
    match wait::retry(KILL_TIMEOUT, SHORT_INTERVAL, was_there, || fs::remove_dir(dir)) {
        Err(error) if was_there(&error) => {
            Err(error).with_context(|| format!("remove the cgroup {}", dir.display()))
        }
        _ => Ok(true),
    }
}

fn write(file: &Path, value: &str) -> Result<(), Error> {
    fs::write(file, value).with_context(|| format!("write {value} to {}", file.display()))
}

fn make_dir(dir: &Path) -> Result<(), Error> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.with_context(|| format!("create the cgroup {}", dir.display())),
    }
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// CPUs in the kernel's list format, such as `0,2,3`.
pub fn cpu_list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Microseconds of CPU time per [`CPU_PERIOD_US`].
pub fn quota_us(cpus: f64) -> u64 {
    (cpus * CPU_PERIOD_US as f64).round() as u64
}

/// Rejects limits that no kernel enforces.
///
/// # Errors
/// [`Error::BadLimit`].
pub fn check(limits: &Limits) -> Result<(), Error> {
    if let Some(cpus) = limits.cpus {
        let bad = |reason| Err(Error::BadLimit { what: format!("of {cpus} CPUs"), reason });
        if !cpus.is_finite() || quota_us(cpus) < MIN_CPU_QUOTA_US {
            return bad("the kernel enforces no less than 0.01 of a CPU");
        }
        if cpus > 10_000.0 {
            return bad("no machine has that many CPUs");
        }
    }
    match limits.memory_bytes {
        Some(bytes) if bytes < 1 << 20 => Err(Error::BadLimit {
            what: format!("of {bytes} bytes of memory"),
            reason: "no program starts with less than 1 MiB",
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_no_kernel_enforces_are_refused() {
        for cpus in [0.0, -1.0, 0.001, f64::NAN, f64::INFINITY, 1e9] {
            assert!(check(&Limits { cpus: Some(cpus), memory_bytes: None }).is_err(), "{cpus}");
        }
        assert!(check(&Limits { cpus: None, memory_bytes: Some(1000) }).is_err());
        assert!(check(&Limits { cpus: Some(0.01), memory_bytes: Some(1 << 20) }).is_ok());
    }

    #[test]
    fn a_folder_that_is_not_a_cgroup_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!remove(dir.path()).unwrap());
        assert!(dir.path().exists());
    }
}
