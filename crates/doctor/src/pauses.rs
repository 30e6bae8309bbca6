//! Pauses: a thread on each CPU does nothing but read the clock, and a gap between two readings is time in which the CPU ran something else,
//! or nothing at all. All CPUs are looked at together, as service and load keep several busy.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_model::result::doctor::{CpuPauses, PauseCount, Pauses};
use loadline_observe::CpuTimes;

use crate::bystanders::stolen_share;
use crate::now_ns;
use crate::pinned::pin;

/// The least lengths that pauses are counted by. A reading of the clock and a loop take some tens of ns, a timer interrupt some µs.
const LEAST_NS: [u64; 3] = [100_000, 1_000_000, 10_000_000];

/// What was seen while all CPUs were busy.
#[derive(Debug, Clone, PartialEq)]
pub struct PausesSeen {
    /// The pauses of each CPU.
    pub pauses: Pauses,
    /// The share that the hypervisor took meanwhile.
    pub stolen_share: Option<f64>,
}

/// Looks for pauses of these CPUs for so long. A CPU that this process may not use is left out; `None` when that leaves none.
pub fn pauses(cpus: &[usize], duration: Duration, stop: &AtomicBool) -> Option<PausesSeen> {
    let before = CpuTimes::now();
    let together = Barrier::new(cpus.len());
    let watched: Vec<Gaps> = std::thread::scope(|scope| {
        let watch = |cpu| {
            let together = &together;
            scope.spawn(move || {
                let pinned = pin(cpu);
                together.wait();
                pinned.ok().map(|()| Gaps::watch(cpu, duration, stop))
            })
        };
        let threads: Vec<_> = cpus.iter().copied().map(watch).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()?).collect()
    });
    let seconds = watched.iter().map(|gaps| gaps.watched_ns).max()? as f64 / 1e9;
    Some(PausesSeen {
        pauses: Pauses { seconds, cpus: watched.iter().map(Gaps::pauses).collect() },
        stolen_share: before
            .zip(CpuTimes::now())
            .and_then(|(before, after)| stolen_share(&after.since(&before))),
    })
}

/// The gaps between readings of the clock on one CPU.
#[derive(Debug, Default)]
struct Gaps {
    cpu: usize,
    watched_ns: u64,
    /// Number and total, ns, by [`LEAST_NS`].
    over: [(u64, u64); LEAST_NS.len()],
    longest_ns: u64,
    /// Time that the thread was ready to run and another one ran.
    waited_ns: Option<u64>,
}

impl Gaps {
    fn watch(cpu: usize, duration: Duration, stop: &AtomicBool) -> Gaps {
        let mut gaps = Gaps { cpu, ..Gaps::default() };
        let waited_before = run_queue_wait_ns();
        let begin = now_ns();
        let end = begin + u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut last = begin;
        while last < end && !stop.load(Ordering::Relaxed) {
            let present = now_ns();
            gaps.note(present - last);
            last = present;
        }
        gaps.watched_ns = last - begin;
        gaps.waited_ns =
            waited_before.zip(run_queue_wait_ns()).map(|(before, after)| after.saturating_sub(before));
        gaps
    }

    #[inline]
    fn note(&mut self, gap: u64) {
        if gap < LEAST_NS[0] {
            return;
        }
        for (least, (count, total)) in LEAST_NS.into_iter().zip(&mut self.over) {
            if gap >= least {
                *count += 1;
                *total += gap;
            }
        }
        self.longest_ns = self.longest_ns.max(gap);
    }

    fn pauses(&self) -> CpuPauses {
        let seconds = (self.watched_ns as f64 / 1e9).max(f64::MIN_POSITIVE);
        let over = LEAST_NS.into_iter().zip(self.over).map(|(least_ns, (count, total_ns))| PauseCount {
            least_ns,
            per_minute: count as f64 * 60.0 / seconds,
            lost_ns_per_second: total_ns as f64 / seconds,
        });
        CpuPauses {
            cpu: self.cpu,
            over: over.collect(),
            longest_ns: self.longest_ns,
            other_programs_ns_per_second: self.waited_ns.map(|ns| ns as f64 / seconds),
        }
    }
}

/// How long the calling thread was ready to run and did not: the second of three figures
/// (Documentation/scheduler/sched-stats.rst).
fn run_queue_wait_ns() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_counts_in_every_length_that_it_reaches() {
        let mut gaps = Gaps { watched_ns: 2_000_000_000, waited_ns: Some(4_000_000), ..Gaps::default() };
        for gap in [99_999, 100_000, 1_500_000, 12_000_000] {
            gaps.note(gap);
        }
        let pauses = gaps.pauses();
        let counts: Vec<(f64, f64)> =
            pauses.over.iter().map(|count| (count.per_minute, count.lost_ns_per_second)).collect();
        assert_eq!(counts, [(90.0, 6_800_000.0), (60.0, 6_750_000.0), (30.0, 6_000_000.0)]);
        assert_eq!((pauses.longest_ns, pauses.other_programs_ns_per_second), (12_000_000, Some(2_000_000.0)));
    }

    #[test]
    fn an_interrupt_ends_the_search() {
        let seen = pauses(&[0], Duration::from_secs(3600), &AtomicBool::new(true)).expect("CPU 0");
        assert!(seen.pauses.seconds < 3600.0);
    }
}
