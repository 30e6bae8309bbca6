//! Version 1: one hierarchy per controller, each with a folder of ours directly below its mount point.
//! (kernel, Documentation/admin-guide/cgroup-v1)

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{CPU_PERIOD_US, Cgroup, Created, Limits, cpu_list, make_dir, quota_us, write};
use crate::{
    error::{Error, ErrorContext},
    owner::Owner,
};

/// Mount points of the hierarchies that loadline uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub cpu: PathBuf,
    pub cpuacct: PathBuf,
    pub cpuset: Option<PathBuf>,
    pub memory: Option<PathBuf>,
}

impl Tree {
    /// From `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`); `None` unless the CPU controllers are mounted.
    pub fn from_mounts(mounts: &str) -> Option<Tree> {
        let with = |controller: &str| {
            mounts.lines().find_map(|line| {
                let (mount, kind) = line.split_once(" - ")?;
                let mut kind = kind.split(' ');
                let controllers = kind.next().filter(|kind| *kind == "cgroup").and(kind.nth(1))?;
                let mounted = controllers.split(',').any(|c| c == controller);
                mounted.then(|| mount.split(' ').nth(4).map(PathBuf::from))?
            })
        };
        Some(Tree {
            cpu: with("cpu")?,
            cpuacct: with("cpuacct")?,
            cpuset: with("cpuset"),
            memory: with("memory"),
        })
    }

    /// The cgroup of the process whose `/proc/PID/cgroup` (`cgroups(7)`) is `groups`.
    pub fn cgroup_of(&self, groups: &str) -> Option<Cgroup> {
        let path_in = |controller: &str| {
            groups.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let (controllers, path) = (fields.next()?, fields.next()?);
                controllers.split(',').any(|c| c == controller).then(|| path.trim_start_matches('/'))
            })
        };
        let below = |root: Option<&PathBuf>, controller| Some(root?.join(path_in(controller)?));
        Some(Cgroup::V1 {
            cpu: below(Some(&self.cpu), "cpu")?,
            cpuacct: below(Some(&self.cpuacct), "cpuacct")?,
            cpuset: below(self.cpuset.as_ref(), "cpuset"),
            memory: below(self.memory.as_ref(), "memory"),
        })
    }

    /// Each hierarchy's root once.
    pub fn roots(&self) -> Vec<PathBuf> {
        Cgroup::V1 {
            cpu: self.cpu.clone(),
            cpuacct: self.cpuacct.clone(),
            cpuset: self.cpuset.clone(),
            memory: self.memory.clone(),
        }
        .dirs()
    }

    pub fn make(&self, owner: &Owner, cpus: &[usize], limits: &Limits) -> Result<Created, Error> {
        for root in self.roots() {
            make_dir(&root.join(Owner::run(owner.run).cgroup()))?;
            make_dir(&root.join(owner.cgroup()))?;
        }
        let below = |root: &PathBuf| root.join(owner.cgroup());
        let (cpuset, memory) = (self.cpuset.as_ref().map(below), self.memory.as_ref().map(below));
        let (cpu, cpuacct) = (below(&self.cpu), below(&self.cpuacct));
        let mut left_out = Vec::new();

        if let Some(root) = &self.cpuset {
            self.fill_cpuset(root, owner, cpus)?;
        }
        if let Some(cpus) = limits.cpus {
            write(&cpu.join("cpu.cfs_period_us"), &CPU_PERIOD_US.to_string())?;
            write(&cpu.join("cpu.cfs_quota_us"), &quota_us(cpus).to_string())?;
        }
        match (limits.memory_bytes, &memory) {
            (Some(bytes), Some(memory)) => {
                write(&memory.join("memory.limit_in_bytes"), &bytes.to_string())?;
                // Memory and swap together, where swap is accounted: a service must not exceed the limit by swapping.
                let with_swap = memory.join("memory.memsw.limit_in_bytes");
                if with_swap.exists() {
                    write(&with_swap, &bytes.to_string())?;
                }
            }
            (Some(_), None) => left_out.push(
                "the memory limit was left out: the kernel's memory controller is disabled; boot with `cgroup_enable=memory`"
                    .to_owned(),
            ),
            (None, _) => {}
        }
        Ok(Created { cgroup: Some(Cgroup::V1 { cpu, cpuacct, cpuset, memory }), left_out })
    }

    /// A cpuset accepts no process before it has CPUs and memory nodes, and may contain only what its parent has.
    fn fill_cpuset(&self, root: &Path, owner: &Owner, cpus: &[usize]) -> Result<(), Error> {
        let read = |name: &str| -> Result<String, Error> {
            let file = root.join(name);
            let value = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
            Ok(value.trim().to_owned())
        };
        let (all_cpus, all_nodes) = (read("cpuset.cpus")?, read("cpuset.mems")?);
        let own_cpus = if cpus.is_empty() { all_cpus.clone() } else { cpu_list(cpus) };
        for (dir, cpus) in [(Owner::run(owner.run).cgroup(), all_cpus), (owner.cgroup(), own_cpus)] {
            write(&root.join(&dir).join("cpuset.cpus"), &cpus)?;
            write(&root.join(&dir).join("cpuset.mems"), &all_nodes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_mounted_together_are_found_under_both_names() {
        let mounts = "\
31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
32 31 0:29 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:15 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,nosuid shared:16 - cgroup cgroup rw,cpuset
35 31 0:32 / /sys/fs/cgroup/systemd rw,nosuid shared:11 - cgroup cgroup rw,xattr,name=systemd
";
        let tree = Tree::from_mounts(mounts).unwrap();
        assert_eq!(tree.cpu, tree.cpuacct);
        assert_eq!(tree.cpuset, Some("/sys/fs/cgroup/cpuset".into()));
        assert_eq!(tree.memory, None);
        assert_eq!(tree.roots().len(), 2);
    }

    #[test]
    fn the_cgroup_of_a_process_is_found_below_each_controllers_mount_point() {
        let tree = Tree {
            cpu: "/c/cpu,cpuacct".into(),
            cpuacct: "/c/cpu,cpuacct".into(),
            cpuset: Some("/c/cpuset".into()),
            memory: Some("/c/memory".into()),
        };
        let groups = "5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n2:cpuset:/\n1:name=systemd:/x:y\n0::/\n";
        let expected = Cgroup::V1 {
            cpu: "/c/cpu,cpuacct/docker/ab".into(),
            cpuacct: "/c/cpu,cpuacct/docker/ab".into(),
            cpuset: Some("/c/cpuset/".into()),
            memory: Some("/c/memory/docker/ab".into()),
        };
        assert_eq!(tree.cgroup_of(groups), Some(expected));
        assert_eq!(tree.cgroup_of("0::/docker/ab\n"), None);
    }

    #[test]
    fn a_machine_with_version_2_alone_has_no_hierarchies() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        assert_eq!(Tree::from_mounts(mounts), None);
    }
}
