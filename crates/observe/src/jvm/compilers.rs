//! CPU time of a JVM's compiler threads, which HotSpot names `C1 CompilerThread0` and so on, with Graal as its compiler `JVMCI
//! CompilerThread0` (compileBroker.cpp; not tried). Its performance data count a compilation when
//! it ends, with the time that it waited for a CPU: of a service with one CPU that is several times what the compiler used.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, JIT, MetricDeclaration, Unit};

use crate::probe::{Probe, Target};

/// The names as the kernel has them: 15 bytes of each (proc_pid_comm(5)).
const NAMES: [&str; 3] = ["C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"];

/// Reads the CPU time of the threads that compile a service.
#[derive(Default)]
pub(crate) struct CompilerProbe {
    /// Threads that are none. A service has hundreds, whose names are read once.
    others: BTreeSet<u32>,
}

impl Probe for CompilerProbe {
    /// CPU time since each thread began, ns, by thread ID.
    type Reading = BTreeMap<u32, u64>;

    fn name(&self) -> &'static str {
        "compilers"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        vec![
            MetricDeclaration::counter(JIT, Unit::Nanoseconds)
                .shown_as("JIT compiler's CPU per request", HigherIs::Costlier),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Self::Reading> {
        let proc = target.proc();
        let tasks = target.service().iter().flat_map(|pid| {
            let threads = proc.ids_in(&format!("{pid}/task"));
            threads.into_iter().map(move |tid| (tid, format!("{pid}/task/{tid}")))
        });
        let (mut compilers, mut others) = (BTreeMap::new(), BTreeSet::new());
        for (tid, task) in tasks {
            if self.others.contains(&tid) {
                others.insert(tid);
                continue;
            }
            // A thread may end at any time.
            let Some(name) = proc.read(&format!("{task}/comm")) else { continue };
            if !NAMES.contains(&name.trim_end()) {
                others.insert(tid);
            } else if let Some(cpu_ns) = proc.read(&format!("{task}/schedstat")).and_then(|text| parse(&text))
            {
                compilers.insert(tid, cpu_ns);
            }
        }
        self.others = others;
        (!compilers.is_empty()).then_some(compilers)
    }

    fn between(&self, before: &Self::Reading, after: &Self::Reading, seen: &mut Observations) {
        // A thread that began in between counts from zero; what one that ended did in between is lost.
        let added = |(tid, now): (&u32, &u64)| match before.get(tid) {
            Some(then) if then <= now => now - then,
            _ => *now,
        };
        seen.set(JIT, after.iter().map(added).fold(0, u64::saturating_add));
    }
}

/// The first of three figures: time on a CPU in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn parse(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::Proc;
    use crate::subject::Subject;

    /// A recorded process 7 with these threads: ID, name, CPU time.
    fn recorded(threads: &[(u32, &str, u64)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (tid, name, cpu_ns) in threads {
            let task = root.path().join(format!("7/task/{tid}"));
            std::fs::create_dir_all(&task).unwrap();
            std::fs::write(task.join("comm"), format!("{name}\n")).unwrap();
            std::fs::write(task.join("schedstat"), format!("{cpu_ns} 12 3\n")).unwrap();
        }
        root
    }

    fn read(probe: &mut CompilerProbe, root: &tempfile::TempDir) -> Option<BTreeMap<u32, u64>> {
        let (subject, proc) = (Subject { root_pids: vec![7], cgroup: None }, Proc::at(root.path()));
        Probe::read(probe, &Target::new(&subject, &proc))
    }

    fn used(before: &BTreeMap<u32, u64>, after: &BTreeMap<u32, u64>) -> Option<u64> {
        let mut seen = Observations::default();
        Probe::between(&CompilerProbe::default(), before, after, &mut seen);
        seen.count(JIT)
    }

    #[test]
    fn the_compiler_threads_are_told_by_their_names() {
        let mut probe = CompilerProbe::default();
        let root = recorded(&[
            (7, "java", 900),
            (8, "C1 CompilerThre", 20),
            (9, "C2 CompilerThre", 30),
            (10, "http-nio-8080-e", 70),
        ]);
        assert_eq!(read(&mut probe, &root), Some([(8, 20), (9, 30)].into()));
        // One that ended, and a compiler thread that began later.
        std::fs::remove_dir_all(root.path().join("7/task/10")).unwrap();
        let later = recorded(&[(10, "C2 CompilerThre", 5), (8, "C1 CompilerThre", 25)]);
        read(&mut probe, &root);
        assert_eq!(read(&mut probe, &later), Some([(8, 25), (10, 5)].into()));
    }

    #[test]
    fn a_program_without_them_has_no_compiler() {
        assert_eq!(read(&mut CompilerProbe::default(), &recorded(&[(7, "nginx", 900)])), None);
    }

    #[test]
    fn threads_that_began_count_from_zero() {
        let (before, after) = ([(8, 20), (9, 30)].into(), [(8, 25), (10, 7)].into());
        assert_eq!(used(&before, &after), Some(12));
        assert_eq!(used(&after, &after), Some(0));
        // A new thread with an old number.
        assert_eq!(used(&before, &[(8, 4)].into()), Some(4));
    }
}
