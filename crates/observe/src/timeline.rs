//! When a service was stopped or held up while a load ran: its counters of lost time, read by a thread every few milliseconds. Reading shares
//! the machine with what is measured, so this is done in slices that do not count as measurements.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use loadline_model::load::Nanos;
use loadline_model::tails::{Cause, Span, Timeline};
use rustix::time::{ClockId, clock_gettime};

use crate::cgroup::Cgroup;
use crate::go::GoWatch;
use crate::jvm::JvmWatch;
use crate::probe::Target;
use crate::procfs::Proc;
use crate::subject::Subject;
use crate::threads;

/// Pauses shorter than this are seen as long as this.
const INTERVAL: Duration = Duration::from_millis(2);
/// Reading takes no more than one part in this many of the time.
const LEAST_REST: u32 = 20;
/// A timer that is this late was held up by another program or by the hypervisor: an idle virtual CPU wakes far earlier.
const LATE: Duration = Duration::from_millis(1);

/// Reads until it is stopped.
pub struct TimelineWatch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Timeline>,
}

impl TimelineWatch {
    /// Begins to read.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(subject: &Subject) -> io::Result<TimelineWatch> {
        let (subject, stop) = (subject.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        // What is looked up once is looked up before the load begins.
        let mut sources = Sources::of(&subject);
        let first = sources.read();
        let watch = move || sources.watch(first, &stopped);
        let thread = std::thread::Builder::new().name("timeline".to_owned()).spawn(watch)?;
        Ok(TimelineWatch { stop, thread })
    }

    /// What it saw.
    pub fn stop(self) -> Timeline {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that panicked saw nothing.
        self.thread.join().unwrap_or_default()
    }
}

/// Where lost time is counted.
struct Sources {
    cgroup: Option<Cgroup>,
    jvm: Option<JvmWatch>,
    go: Option<GoWatch>,
    subject: Subject,
    proc: Proc,
}

/// What was counted since the service began.
struct Reading {
    at: Nanos,
    /// Lost time by its cause, ns.
    lost: BTreeMap<Cause, Nanos>,
    /// CPU time, ns.
    cpu: Option<Nanos>,
}

impl Reading {
    /// When time was lost between the reading before and this one. `ran` is when the service was last known to run before.
    fn spans<'a>(&'a self, before: &'a Reading, ran: Nanos) -> impl Iterator<Item = (Cause, Span)> + 'a {
        self.lost.iter().filter_map(move |(cause, ns)| {
            let new = ns.checked_sub(*before.lost.get(cause)?).filter(|new| *new > 0)?;
            // It is counted when it is over, and by each thread or CPU that loses it, so that the sum can be longer than the time in which
            // they did.
            let earliest = match cause {
                Cause::RunQueue => before.at,
                // No CPU runs what is throttled.
                Cause::Throttled => ran,
                Cause::JvmCollected | Cause::JvmStopped | Cause::GoStopped | Cause::Paused => 0,
            };
            Some((*cause, Span { from: self.at.saturating_sub(new).max(earliest), to: self.at }))
        })
    }

    /// Whether the service used CPU time since the reading before; `true` if nobody knows.
    fn has_run_since(&self, before: &Reading) -> bool {
        self.cpu.zip(before.cpu).is_none_or(|(now, then)| now > then)
    }
}

impl Sources {
    fn of(subject: &Subject) -> Sources {
        let proc = Proc::default();
        let target = Target::new(subject, &proc);
        Sources {
            cgroup: subject.cgroup.clone(),
            jvm: JvmWatch::find(&target),
            go: GoWatch::find(&target),
            subject: subject.clone(),
            proc: proc.clone(),
        }
    }

    fn read(&mut self) -> Reading {
        let target = Target::new(&self.subject, &self.proc);
        let throttled =
            self.cgroup.as_ref().and_then(Cgroup::throttling).map(|throttling| throttling.throttled_ns);
        let stopped = self.jvm.as_ref().and_then(JvmWatch::stopped);
        let collected = self.go.as_ref().and_then(GoWatch::paused_ns);
        let waited = threads::run_queue_wait_ns(&self.proc, target.processes());
        let found = [
            (Cause::Throttled, throttled),
            (Cause::JvmCollected, stopped.as_ref().map(|stopped| stopped.collecting_ns)),
            (Cause::JvmStopped, stopped.as_ref().map(|stopped| stopped.in_all_ns)),
            (Cause::GoStopped, collected),
            (Cause::RunQueue, waited),
        ];
        let lost = found.into_iter().filter_map(|(cause, ns)| Some((cause, ns?))).collect();
        let cpu = self.cgroup.as_ref().and_then(Cgroup::cpu).map(|cpu| cpu.total_ns);
        Reading { at: now(), lost, cpu }
    }

    fn watch(mut self, first: Reading, stop: &AtomicBool) -> Timeline {
        let mut timeline = Timeline { began: now(), ..Timeline::default() };
        for cause in first.lost.keys() {
            timeline.spans.insert(*cause, Vec::new());
        }
        timeline.spans.insert(Cause::Paused, Vec::new());
        let (mut before, mut ran, mut rest) = (first, timeline.began, INTERVAL);
        while !stop.load(Ordering::Relaxed) {
            let due = now() + nanos(rest);
            sleep(rest);
            let woke = now();
            if woke > due + nanos(LATE) {
                timeline.add(Cause::Paused, Span { from: due, to: woke });
            }
            let begun = Instant::now();
            let reading = self.read();
            rest = INTERVAL.max(begun.elapsed() * LEAST_REST);
            for (cause, span) in reading.spans(&before, ran) {
                timeline.add(cause, span);
            }
            if reading.has_run_since(&before) {
                ran = before.at;
            }
            before = reading;
        }
        timeline.ended = now();
        timeline
    }
}

fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

/// By the clock of the engine.
fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn reading(at: Nanos, lost: &[(Cause, Nanos)]) -> Reading {
        Reading { at: at * MS, lost: lost.iter().map(|(cause, ms)| (*cause, ms * MS)).collect(), cpu: None }
    }

    /// From and to in ms, of what was lost between two readings, at 100 and at 102 ms; the service was last known to run at 60 ms.
    fn span(cause: Cause, lost: Nanos) -> Option<(Nanos, Nanos)> {
        let (before, after) = (reading(100, &[(cause, 7)]), reading(102, &[(cause, 7 + lost)]));
        let mut spans = after.spans(&before, 60 * MS);
        let (found, span) = spans.next()?;
        assert_eq!(found, cause);
        Some((span.from / MS, span.to / MS))
    }

    #[test]
    fn lost_time_ends_where_it_is_seen() {
        assert_eq!(span(Cause::JvmStopped, 30), Some((72, 102)));
        assert_eq!(span(Cause::GoStopped, 1), Some((101, 102)));
        assert_eq!(span(Cause::Throttled, 0), None);
    }

    #[test]
    fn what_several_threads_or_cpus_lose_at_once_is_no_longer_than_they_did() {
        assert_eq!(span(Cause::RunQueue, 5), Some((100, 102)));
        // Two CPUs, 40 ms each.
        assert_eq!(span(Cause::Throttled, 80), Some((60, 102)));
        assert_eq!(span(Cause::Throttled, 30), Some((72, 102)));
    }

    #[test]
    fn a_service_without_a_known_cpu_time_may_have_run() {
        let with = |cpu| Reading { cpu, ..reading(1, &[]) };
        assert!(with(Some(5)).has_run_since(&with(Some(4))));
        assert!(!with(Some(5)).has_run_since(&with(Some(5))));
        assert!(with(None).has_run_since(&with(Some(5))));
    }
}
