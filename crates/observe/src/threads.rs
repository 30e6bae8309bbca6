//! `/proc/PID/task/TID/{status,schedstat}`: how often the threads of a service gave up or lost their CPU, and how long
//! they waited for one. Both are counted by thread, and the kernel has no sum of them that outlives a thread.

use std::collections::BTreeMap;

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, RUN_QUEUE_WAIT, Unit};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};
use crate::procfs::{self, Proc};

/// Reads what the scheduler did to a service's threads.
pub(crate) struct ThreadProbe;

impl Probe for ThreadProbe {
    /// By thread ID.
    type Reading = BTreeMap<u32, Scheduling>;

    fn name(&self) -> &'static str {
        "threads"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let count =
            |name, label| MetricDeclaration::counter(name, Unit::Count).shown_as(label, HigherIs::More);
        vec![
            MetricDeclaration::counter(RUN_QUEUE_WAIT, Unit::Nanoseconds)
                .shown_as("run-queue wait per request", HigherIs::Slower),
            count("switches.voluntary", "  voluntary"),
            count("switches.involuntary", "  involuntary"),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Self::Reading> {
        of_processes(target.proc(), target.processes())
    }

    fn between(&self, before: &Self::Reading, after: &Self::Reading, seen: &mut Observations) {
        let scheduling = between(before, after);
        seen.set(RUN_QUEUE_WAIT, scheduling.run_queue_wait_ns);
        seen.set("switches.voluntary", scheduling.voluntary_switches);
        seen.set("switches.involuntary", scheduling.involuntary_switches);
    }
}

/// What the scheduler did to one thread, or to several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Scheduling {
    /// The thread had nothing to do or waited for something.
    pub(crate) voluntary_switches: u64,
    /// The thread could have gone on, but another one was due.
    pub(crate) involuntary_switches: u64,
    /// Time that the thread was ready to run and did not.
    pub(crate) run_queue_wait_ns: u64,
}

/// The counts of every thread of `pids` since it began, by thread ID; `None` if there is none.
fn of_processes(proc: &Proc, pids: &[Pid]) -> Option<BTreeMap<u32, Scheduling>> {
    let mut threads = BTreeMap::new();
    for pid in pids {
        let tasks = format!("{pid}/task");
        for tid in proc.ids_in(&tasks) {
            if let Some(counts) = read(proc, &format!("{tasks}/{tid}")) {
                threads.insert(tid, counts);
            }
        }
    }
    (!threads.is_empty()).then_some(threads)
}

/// How long all threads of the processes have waited for a CPU since they began, ns.
pub(crate) fn run_queue_wait_ns(proc: &Proc, pids: &[Pid]) -> Option<u64> {
    let of_process = |pid: &Pid| {
        let tasks = format!("{pid}/task");
        let waited = |tid| parse_schedstat(&proc.read(&format!("{tasks}/{tid}/schedstat"))?);
        proc.ids_in(&tasks).into_iter().filter_map(waited).reduce(|sum, ns| sum + ns)
    };
    pids.iter().filter_map(of_process).reduce(|sum, ns| sum + ns)
}

fn read(proc: &Proc, task: &str) -> Option<Scheduling> {
    let (voluntary_switches, involuntary_switches) = parse_status(&proc.read(&format!("{task}/status"))?)?;
    let run_queue_wait_ns = parse_schedstat(&proc.read(&format!("{task}/schedstat"))?)?;
    Some(Scheduling { voluntary_switches, involuntary_switches, run_queue_wait_ns })
}

/// The sum over the threads of `after` of what was added since `before`. A thread that began in between counts from
/// zero; what one that ended did in between is lost.
fn between(before: &BTreeMap<u32, Scheduling>, after: &BTreeMap<u32, Scheduling>) -> Scheduling {
    after.iter().fold(Scheduling::default(), |sum, (tid, now)| {
        // Counts that went backwards belong to a new thread with an old number.
        let same = |then: &&Scheduling| {
            then.voluntary_switches <= now.voluntary_switches
                && then.involuntary_switches <= now.involuntary_switches
                && then.run_queue_wait_ns <= now.run_queue_wait_ns
        };
        let then = before.get(tid).filter(same).copied().unwrap_or_default();
        let add = |sum: u64, now: u64, then: u64| sum.saturating_add(now - then);
        Scheduling {
            voluntary_switches: add(sum.voluntary_switches, now.voluntary_switches, then.voluntary_switches),
            involuntary_switches: add(
                sum.involuntary_switches,
                now.involuntary_switches,
                then.involuntary_switches,
            ),
            run_queue_wait_ns: add(sum.run_queue_wait_ns, now.run_queue_wait_ns, then.run_queue_wait_ns),
        }
    })
}

fn parse_status(text: &str) -> Option<(u64, u64)> {
    let voluntary = procfs::number_after(text, "voluntary_ctxt_switches:")?;
    Some((voluntary, procfs::number_after(text, "nonvoluntary_ctxt_switches:")?))
}

/// The second of three figures: time on a run queue in nanoseconds (Documentation/scheduler/sched-stats.rst).
fn parse_schedstat(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn counts(voluntary: u64, involuntary: u64, wait_ns: u64) -> Scheduling {
        Scheduling {
            voluntary_switches: voluntary,
            involuntary_switches: involuntary,
            run_queue_wait_ns: wait_ns,
        }
    }

    #[test]
    fn recorded_files_are_read() {
        let status =
            "Name:\tcat\nThreads:\t1\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(parse_status(status), Some((42, 7)));
        assert_eq!(parse_schedstat("103440 2614072 1\n"), Some(2_614_072));
        assert_eq!(parse_schedstat("103440\n"), None);
    }

    #[test]
    fn new_threads_count_from_zero_and_ended_ones_are_lost() {
        let before = BTreeMap::from([(1, counts(10, 1, 100)), (2, counts(90, 9, 900))]);
        let after = BTreeMap::from([(1, counts(15, 1, 130)), (3, counts(4, 2, 7))]);
        assert_eq!(between(&before, &after), counts(9, 2, 37));
    }

    #[test]
    fn a_thread_with_a_reused_number_counts_from_zero() {
        let before = BTreeMap::from([(1, counts(10, 5, 100))]);
        let after = BTreeMap::from([(1, counts(12, 0, 300))]);
        assert_eq!(between(&before, &after), counts(12, 0, 300));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = parse_status(&text);
            let _ = parse_schedstat(&text);
        }

        #[test]
        fn any_two_snapshots_can_be_compared(
            before in proptest::collection::btree_map(0u32..5, any::<(u64, u64, u64)>(), 0..5),
            after in proptest::collection::btree_map(0u32..5, any::<(u64, u64, u64)>(), 0..5),
        ) {
            let all = |map: BTreeMap<u32, (u64, u64, u64)>| -> BTreeMap<u32, Scheduling> {
                map.into_iter().map(|(tid, (v, i, w))| (tid, counts(v, i, w))).collect()
            };
            let (before, after) = (all(before), all(after));
            let _ = between(&before, &after);
            prop_assert_eq!(between(&after, &after), Scheduling::default());
        }
    }
}
