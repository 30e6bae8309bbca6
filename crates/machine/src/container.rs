//! A container as the kernel of this machine sees it: its first process and its cgroup, found by its id.
//!
//! Container runtimes put the id into the cgroup's name (`docker/ID`, `cri-containerd-ID.scope`, `…/podUID/ID`),
//! whichever cgroup driver they use, so that the runtime need not be asked.

use std::{fs, path::Path};

use crate::{
    cgroup::Cgroup,
    error::{Error, ErrorContext},
};

/// A container that runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its first process, as numbered here.
    pub pid: u32,
    /// Its cgroup.
    pub cgroup: Cgroup,
}

/// The container of the id that a runtime gave it, 64 hexadecimal digits; `None` if no process of it is on this
/// machine.
///
/// # Errors
/// When the cgroups of this machine cannot be read.
pub fn find_container(id: &str) -> Result<Option<Container>, Error> {
    // An empty id would match every name.
    if id.is_empty() {
        return Ok(None);
    }
    let entries = fs::read_dir("/proc").with_context(|| "list /proc")?;
    let mut pids: Vec<u32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    // The container's first process has the lowest number, unless process numbers wrapped around in between.
    pids.sort_unstable();
    for pid in pids {
        let Ok(groups) = fs::read_to_string(format!("/proc/{pid}/cgroup")) else { continue };
        if groups.lines().any(|line| in_container(line, id)) {
            return Container::of(pid, &groups);
        }
    }
    Ok(None)
}

impl Container {
    /// The container that the process `pid` is the first of.
    pub fn of_process(pid: u32) -> Result<Option<Container>, Error> {
        let path = format!("/proc/{pid}/cgroup");
        let groups = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        Container::of(pid, &groups)
    }

    fn of(pid: u32, groups: &str) -> Result<Option<Container>, Error> {
        let mounts =
            fs::read_to_string("/proc/self/mountinfo").with_context(|| "read /proc/self/mountinfo")?;
        Ok(Cgroup::of_process(&mounts, groups).map(|cgroup| Container { pid, cgroup }))
    }
}

/// Whether a line of `/proc/PID/cgroup` names the container: its last part contains the id.
fn in_container(line: &str, id: &str) -> bool {
    line.splitn(3, ':')
        .nth(2)
        .and_then(|path| Path::new(path).file_name()?.to_str())
        .is_some_and(|name| name.contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_known_by_the_last_part_of_its_cgroup() {
        let id = "0a1b2c3d";
        assert!(in_container("4:cpu,cpuacct:/docker/0a1b2c3d", id));
        assert!(in_container("0::/kubepods.slice/kubepods-podx.slice/cri-containerd-0a1b2c3d.scope", id));
        assert!(!in_container("0::/docker/0a1b2c3d/below", id), "a group that the service created itself");
        assert!(!in_container("0::/", id));
    }

    #[test]
    fn no_container_has_an_empty_id() {
        assert_eq!(find_container("").unwrap(), None);
    }
}
