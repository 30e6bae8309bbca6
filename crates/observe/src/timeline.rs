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

/// Lost time since the service began, ns, by its cause.
type Lost = BTreeMap<Cause, Nanos>;

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

    fn read(&mut self) -> Lost {
        let target = Target::new(&self.subject, &self.proc);
        let throttled =
            self.cgroup.as_ref().and_then(Cgroup::throttling).map(|throttling| throttling.throttled_ns);
        let stopped = self.jvm.as_ref().and_then(JvmWatch::stopped_ns);
        let collected = self.go.as_ref().and_then(GoWatch::paused_ns);
        let waited = threads::run_queue_wait_ns(&self.proc, target.processes());
        let found = [
            (Cause::Throttled, throttled),
            (Cause::JvmStopped, stopped),
            (Cause::GoStopped, collected),
            (Cause::RunQueue, waited),
        ];
        found.into_iter().filter_map(|(cause, ns)| Some((cause, ns?))).collect()
    }

    fn watch(mut self, first: Lost, stop: &AtomicBool) -> Timeline {
        let mut timeline = Timeline { began: now(), ..Timeline::default() };
        for cause in first.keys() {
            timeline.spans.insert(*cause, Vec::new());
        }
        timeline.spans.insert(Cause::Paused, Vec::new());
        let (mut before, mut last, mut rest) = (first, timeline.began, INTERVAL);
        while !stop.load(Ordering::Relaxed) {
            let due = last + nanos(rest);
            sleep(rest);
            let woke = now();
            if woke > due + nanos(LATE) {
                timeline.add(Cause::Paused, Span { from: due, to: woke });
            }
            let begun = Instant::now();
            let lost = self.read();
            rest = INTERVAL.max(begun.elapsed() * LEAST_REST);
            let read = now();
            for (cause, ns) in &lost {
                let new = before.get(cause).and_then(|before| ns.checked_sub(*before)).unwrap_or(0);
                if new > 0 {
                    // It is counted when it is over; what several threads lost at once is no longer than the time in which they did.
                    let longest = if *cause == Cause::RunQueue { read - last } else { new };
                    timeline.add(*cause, Span { from: read.saturating_sub(new.min(longest)), to: read });
                }
            }
            (before, last) = (lost, read);
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
