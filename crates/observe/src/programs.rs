//! Which programs used the CPUs in a while: the CPU clock of every process, before and after.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use loadline_model::result::doctor::Program;
use rustix::process::Pid;

use crate::procfs::Proc;
use crate::sys::process_cpu_ns;

/// Parts of cgroup paths that container runtimes make: Docker, Kubernetes, Podman, containerd, LXC.
const CONTAINER_MARKS: [&str; 5] = ["docker", "kubepods", "libpod", "containerd", "lxc"];

/// The CPU time of all processes, those of other users and of the kernel included.
#[derive(Debug)]
pub struct ProgramsReading {
    at: Instant,
    used_ns: BTreeMap<u32, u64>,
}

impl ProgramsReading {
    /// Reads it now.
    pub fn now() -> ProgramsReading {
        let used = |pid: u32| Some((pid, process_cpu_ns(Pid::from_raw(i32::try_from(pid).ok()?)?)?));
        let pids = Proc::default().ids_in("");
        ProgramsReading { at: Instant::now(), used_ns: pids.into_iter().filter_map(used).collect() }
    }

    /// The programs that used CPU time since this reading, but for this one, the most first; shares are of `cpus` CPUs. A process that
    /// began in between counts from zero; what one that ended used in between is lost.
    pub fn programs_since(&self, cpus: usize) -> Vec<Program> {
        let after = ProgramsReading::now();
        let own = std::process::id();
        let used = after.used_ns.iter().filter(|(pid, _)| **pid != own).map(|(pid, now)| {
            // A clock that went backwards belongs to a new process with an old number.
            let then = self.used_ns.get(pid).filter(|then| *then <= now).copied().unwrap_or(0);
            (*pid, now - then)
        });
        let proc = Proc::default();
        let named = used.filter(|(_, ns)| *ns > 0).filter_map(|(pid, ns)| {
            let name = proc.read(&format!("{pid}/comm"))?.trim_end().to_owned();
            let groups = proc.read(&format!("{pid}/cgroup")).unwrap_or_default();
            Some(Used { name, pid, ns, in_container: is_container(&groups) })
        });
        by_name(named, (after.at - self.at).saturating_mul(cpus as u32))
    }
}

/// What a process used.
struct Used {
    name: String,
    pid: u32,
    ns: u64,
    in_container: bool,
}

fn by_name(processes: impl Iterator<Item = Used>, capacity: Duration) -> Vec<Program> {
    let mut names: BTreeMap<String, Vec<Used>> = BTreeMap::new();
    for process in processes {
        names.entry(process.name.clone()).or_default().push(process);
    }
    let program = |(name, mut processes): (String, Vec<Used>)| {
        processes.sort_by_key(|process| std::cmp::Reverse(process.ns));
        let ns: u64 = processes.iter().map(|process| process.ns).sum();
        let first = processes.first()?;
        Some(Program {
            name,
            processes: processes.len(),
            pid: first.pid,
            in_container: first.in_container,
            share: ns as f64 / (capacity.as_nanos() as f64).max(1.0),
        })
    };
    let mut programs: Vec<Program> = names.into_iter().filter_map(program).collect();
    programs.sort_by(|one, other| other.share.total_cmp(&one.share));
    programs
}

/// Whether a process is in a container, by its `/proc/PID/cgroup` (cgroups(7)).
fn is_container(groups: &str) -> bool {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    // The daemons themselves run in units such as `docker.service`.
    paths
        .flat_map(|path| path.split('/'))
        .any(|part| !part.ends_with(".service") && CONTAINER_MARKS.iter().any(|mark| part.contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_one_name_are_one_program() {
        let used = |name: &str, pid, ns| Used { name: name.to_owned(), pid, ns, in_container: pid == 3 };
        let all = [used("java", 1, 10), used("cc", 2, 40), used("java", 3, 50)];
        let programs = by_name(all.into_iter(), Duration::from_nanos(200));
        let names: Vec<(&str, usize, u32, bool, f64)> = programs
            .iter()
            .map(|program| {
                (program.name.as_str(), program.processes, program.pid, program.in_container, program.share)
            })
            .collect();
        assert_eq!(names, [("java", 2, 3, true, 0.3), ("cc", 1, 2, false, 0.2)]);
    }

    #[test]
    fn a_container_is_told_by_its_cgroup_and_its_daemon_is_none() {
        assert!(is_container("0::/system.slice/docker-4f1.scope\n"));
        assert!(is_container("12:cpu:/docker/4f1\n0::/\n"));
        assert!(is_container("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope"));
        assert!(!is_container("0::/system.slice/docker.service\n"));
        assert!(!is_container("0::/user.slice/user-0.slice/session-1.scope\n"));
    }

    #[test]
    fn a_program_that_computes_is_found() {
        let before = ProgramsReading::now();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done"])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let programs = before.programs_since(1);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(programs.iter().any(|program| program.name == "sh" && program.share > 0.0), "{programs:?}");
    }
}
