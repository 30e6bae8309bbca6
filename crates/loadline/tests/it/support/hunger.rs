//! Want of memory in a container, made from outside it: somebody in its cgroup takes all that its limit allows, and the kernel
//! kills the service for it.

use std::fs;
use std::process::Command;

use super::wait_for;

/// Takes memory until the service is gone: a file's, which counts for the cgroup and not for the size of whoever wrote it, so that
/// the service is the larger one.
const EATER: &str = "
import os, sys
group, service = sys.argv[1:]
with open(group + '/cgroup.procs', 'w') as procs: procs.write(str(os.getpid()))
eaten = os.memfd_create('eaten')
while os.path.exists('/proc/' + service): os.write(eaten, bytes(1 << 20))
";

/// Has the kernel kill the service of a container, which must have a memory limit, for want of memory. The container is known by
/// its id, with or without the runtime's name before it.
pub fn starve(container: &str) {
    let id = container.rsplit('/').next().unwrap_or(container);
    let (pid, group) = wait_for("the container's process", || process_of(id));
    // Whoever is asked to die first, dies first.
    fs::write(format!("/proc/{pid}/oom_score_adj"), "1000").expect("a process of ours");
    // It may be killed too: what counts is how the service ends.
    Command::new("python3").args(["-c", EATER, &group, &pid]).status().expect("python3");
}

/// The number of a process of the container, and the folder of its memory cgroup.
fn process_of(id: &str) -> Option<(String, String)> {
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().into_string().ok());
    pids.find_map(|pid| {
        // `N:memory:/PATH` where memory has a hierarchy of its own, `0::/PATH` where all controllers share one.
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        let path = |of: &str, top: &str| {
            let path = groups.lines().find_map(|line| line.split_once(of))?.1;
            path.contains(id).then(|| format!("/sys/fs/cgroup{top}{path}"))
        };
        let group = path(":memory:", "/memory").or_else(|| path("0::", ""))?;
        Some((pid, group))
    })
}
