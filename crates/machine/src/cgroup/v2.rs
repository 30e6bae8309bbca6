//! Version 2: one hierarchy. Root creates its groups at the top, other users below their own, delegated, group.
//! (kernel, Documentation/admin-guide/cgroup-v2.rst)

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use super::{CPU_PERIOD_US, Cgroup, Created, Limits, cpu_list, make_dir, quota_us, write};
use crate::{
    error::{Error, ErrorContext},
    owner::Owner,
};

/// Name of the group into which loadline moves itself when its own group may contain no processes.
const SELF: &str = "self";
/// Controllers to enable. cpuset may be missing: affinity pins the service on every platform anyway.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "cpuset"];

/// The cgroup of the process whose `/proc/PID/cgroup` is `groups`.
pub(super) fn cgroup_of(mounts: &str, groups: &str) -> Option<Cgroup> {
    let (mount, root) = mount_and_root(mounts)?;
    Some(Cgroup::V2 { dir: dir_of(&mount, &root, groups)? })
}

/// Where the hierarchy is mounted, and which of its groups appears there as the top.
fn mount_and_root(mounts: &str) -> Option<(PathBuf, String)> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        kind.starts_with("cgroup2 ").then(|| (PathBuf::from(point), root.to_owned()))
    })
}

fn dir_of(mount: &Path, root: &str, groups: &str) -> Option<PathBuf> {
    let path = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    let below = path.strip_prefix(root).or_else(|_| path.strip_prefix("/")).ok()?;
    Some(mount.join(below))
}

/// The group below which the groups of runs are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    base: PathBuf,
}

impl Tree {
    /// From `/proc/self/mountinfo` and `/proc/self/cgroup`: the top of the hierarchy if this user may write there,
    /// else the process's own group.
    pub fn from_mounts(mounts: &str, own: &str) -> Option<Tree> {
        let (mount, root) = mount_and_root(mounts)?;
        let may_write = rustix::fs::access(mount.join("cgroup.procs"), rustix::fs::Access::WRITE_OK).is_ok();
        let is_top = !mount.join("cgroup.events").exists();
        if may_write && is_top {
            return Some(Tree { base: mount });
        }
        Some(Tree { base: dir_of(&mount, &root, own)? })
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    pub fn make(&self, owner: &Owner, cpus: &[usize], limits: &Limits) -> Result<Created, Error> {
        let top = self.base.join(Owner::run(owner.run).cgroup());
        let dir = self.base.join(owner.cgroup());
        make_dir(&top)?;
        let there = self.delegate(&top)?;
        make_dir(&dir)?;

        let mut left_out = Vec::new();
        let mut limit = |controller: &str, what: &str, file: &str, value: String| {
            if there.iter().any(|c| c == controller) {
                return write(&dir.join(file), &value);
            }
            left_out.push(format!(
                "the {what} limit was left out: cannot enable the {controller} controller below {}; run as root, or under `systemd-run --user --scope -p Delegate=yes`",
                self.base.display()
            ));
            Ok(())
        };
        if let Some(cpus) = limits.cpus {
            limit("cpu", "CPU", "cpu.max", format!("{} {CPU_PERIOD_US}", quota_us(cpus)))?;
        }
        if let Some(bytes) = limits.memory_bytes {
            limit("memory", "memory", "memory.max", bytes.to_string())?;
        }
        // A service must not exceed the limit by swapping. Without swap accounting the file is missing.
        let swap = dir.join("memory.swap.max");
        if limits.memory_bytes.is_some() && swap.exists() {
            write(&swap, "0")?;
        }
        if !cpus.is_empty() && there.iter().any(|c| c == "cpuset") {
            write(&dir.join("cpuset.cpus"), &cpu_list(cpus))?;
        }
        Ok(Created { cgroup: Some(Cgroup::V2 { dir }), left_out })
    }

    /// Enables the controllers for the groups below `top` and returns those that are available there.
    fn delegate(&self, top: &Path) -> Result<Vec<String>, Error> {
        let wanted: Vec<String> = words(&self.base.join("cgroup.controllers"))
            .into_iter()
            .filter(|c| CONTROLLERS.contains(&c.as_str()))
            .collect();
        match enable(&self.base, &wanted) {
            // A group other than the root cannot enable controllers for its children while it contains processes, and
            // it contains this one.
            Err(Error::System { source, .. })
                if source.raw_os_error() == Some(Errno::BUSY.raw_os_error()) =>
            {
                let own_group = top.join(SELF);
                make_dir(&own_group)?;
                write(&own_group.join("cgroup.procs"), "0")?;
                if enable(&self.base, &wanted).is_err() {
                    // The group has other processes, which are not ours to move.
                    write(&self.base.join("cgroup.procs"), "0")?;
                    fs::remove_dir(&own_group)
                        .with_context(|| format!("remove the cgroup {}", own_group.display()))?;
                    return Ok(Vec::new());
                }
            }
            enabled => enabled?,
        }
        enable(top, &wanted)?;
        Ok(wanted)
    }
}

/// Moves loadline back to where it was if it moved below `top`, so that `top` can be removed.
pub(super) fn leave(top: &Path) -> Result<(), Error> {
    let own = fs::read_to_string("/proc/self/cgroup").with_context(|| "read /proc/self/cgroup")?;
    let Some((base, name)) = top.parent().zip(top.file_name()) else { return Ok(()) };
    let own_group = Path::new(name).join(SELF);
    if !own
        .lines()
        .filter_map(|line| line.strip_prefix("0::"))
        .any(|path| Path::new(path).ends_with(&own_group))
    {
        return Ok(());
    }
    // loadline could move only because no controller was enabled before; so all that are enabled now are ours to
    // disable.
    for dir in [top, base] {
        let enabled = words(&dir.join("cgroup.subtree_control"));
        write(&dir.join("cgroup.subtree_control"), &signed('-', &enabled))?;
    }
    write(&base.join("cgroup.procs"), "0")
}

fn enable(dir: &Path, controllers: &[String]) -> Result<(), Error> {
    let file = dir.join("cgroup.subtree_control");
    let there = words(&file);
    let missing: Vec<String> = controllers.iter().filter(|c| !there.contains(c)).cloned().collect();
    if missing.is_empty() { Ok(()) } else { write(&file, &signed('+', &missing)) }
}

fn words(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn signed(sign: char, words: &[String]) -> String {
    words.iter().map(|word| format!("{sign}{word}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner { run: "0a1b2c".parse().unwrap(), slot: Some(1) }
    }

    /// A top group as systemd leaves it on Debian 12, with the files that matter.
    fn recorded(controllers: &str) -> (tempfile::TempDir, Tree) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.controllers"), controllers).unwrap();
        fs::write(dir.path().join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let base = dir.path().to_owned();
        (dir, Tree { base })
    }

    #[test]
    fn limits_and_cpus_reach_their_files() {
        let (dir, tree) = recorded("cpuset cpu io memory hugetlb pids rdma\n");
        let limits = Limits { cpus: Some(1.5), memory_bytes: Some(512 << 20) };
        let made = tree.make(&owner(), &[0, 2], &limits).unwrap();
        let group = dir.path().join("loadline-0a1b2c/1");
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(made.cgroup, Some(Cgroup::V2 { dir: group.clone() }));
        assert!(made.left_out.is_empty(), "{:?}", made.left_out);
        assert_eq!(read(group.join("cpu.max")), "150000 100000");
        assert_eq!(read(group.join("memory.max")), "536870912");
        assert_eq!(read(group.join("cpuset.cpus")), "0,2");
        assert_eq!(read(dir.path().join("cgroup.subtree_control")), "+cpuset");
        assert_eq!(read(dir.path().join("loadline-0a1b2c/cgroup.subtree_control")), "+cpuset +cpu +memory");
    }

    #[test]
    fn a_limit_whose_controller_is_missing_is_left_out_with_a_note() {
        let (dir, tree) = recorded("memory pids\n");
        let limits = Limits { cpus: Some(1.0), memory_bytes: Some(512 << 20) };
        let made = tree.make(&owner(), &[0], &limits).unwrap();
        assert_eq!(made.left_out.len(), 1);
        assert!(made.left_out[0].starts_with("the CPU limit was left out"), "{:?}", made.left_out);
        assert!(dir.path().join("loadline-0a1b2c/1/memory.max").exists());
        assert!(!dir.path().join("loadline-0a1b2c/1/cpu.max").exists());
    }

    #[test]
    fn an_ordinary_user_gets_their_own_group() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.events"), "").unwrap();
        let mounts = format!("30 23 0:26 / {} rw shared:4 - cgroup2 cgroup2 rw\n", dir.path().display());
        let tree = Tree::from_mounts(&mounts, "0::/user.slice/user-1000.slice/run-1.scope\n").unwrap();
        assert_eq!(tree.base, dir.path().join("user.slice/user-1000.slice/run-1.scope"));
    }

    #[test]
    fn inside_a_container_the_groups_path_counts_from_the_mounts_root() {
        let dir = tempfile::tempdir().unwrap();
        let mounts = format!("30 23 0:26 /docker/f00 {} rw - cgroup2 cgroup rw\n", dir.path().display());
        let tree = Tree::from_mounts(&mounts, "0::/docker/f00/inner\n").unwrap();
        assert_eq!(tree.base, dir.path().join("inner"));
    }

    /// Against the kernel, wherever a version 2 hierarchy is mounted: joining, killing, removing.
    #[test]
    fn a_process_is_put_into_the_group_and_killed_with_it() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let tree = Tree::from_mounts(&mounts, &own).expect("this test needs a mounted cgroup2 hierarchy");
        let made = tree.make(&owner(), &[], &Limits::default()).expect("this test needs root");
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let group = tree.base.join(owner().cgroup());
        write(&group.join("cgroup.procs"), &child.id().to_string()).unwrap();
        assert_eq!(made.cgroup.unwrap().open_procs().unwrap().len(), 1);
        let top = tree.base.join(Owner::run(owner().run).cgroup());
        assert!(super::super::remove(&top).unwrap());
        assert!(!child.wait().unwrap().success());
        assert!(!top.exists());
    }
}
