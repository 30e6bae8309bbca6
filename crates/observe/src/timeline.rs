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
use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

use crate::cgroup::{Cgroup, Resource, pressure_on_machine};
use crate::go::GoWatch;
use crate::jvm::JvmWatch;
use crate::probe::Target;
use crate::procfs::Proc;
use crate::subject::Subject;
use crate::tcp::{self, Connections};
use crate::threads;

/// Pauses shorter than this are seen as long as this.
const INTERVAL: Duration = Duration::from_millis(2);
/// Reading takes no more than one part in this many of the time.
const LEAST_REST: u32 = 20;
/// A service runs if it uses more than one part in this many of a CPU.
const LEAST_RUN: u64 = 10;
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

/// What was counted since the service began.
struct Reading {
    at: Nanos,
    /// Lost time by its cause, ns.
    lost: BTreeMap<Cause, Nanos>,
    /// CPU time, ns.
    cpu: Option<Nanos>,
    /// The connections in its network namespace, if it has one of its own.
    connections: Option<Connections>,
}

/// Makes spans of readings.
struct Spans {
    before: Reading,
    /// When the service was last known to run.
    ran: Nanos,
    /// While another client than the load is connected: how many connections were open before it came.
    without_others: Option<u64>,
}

impl Spans {
    fn from(first: Reading) -> Spans {
        Spans { ran: first.at, before: first, without_others: None }
    }

    /// Adds the time that was lost since the reading before.
    fn add(&mut self, reading: Reading, timeline: &mut Timeline) {
        for (cause, ns) in &reading.lost {
            let before = self.before.lost.get(cause).copied().unwrap_or(*ns);
            let new = ns.saturating_sub(before);
            if new == 0 {
                continue;
            }
            // It is counted when it is over, and by each thread or CPU that loses it, so that the sum can be longer than the time in which
            // they did.
            let earliest = match cause {
                Cause::RunQueue | Cause::Disk | Cause::Memory => self.before.at,
                Cause::Throttled => self.ran,
                Cause::JvmCollected
                | Cause::JvmStopped
                | Cause::GoStopped
                | Cause::Paused
                | Cause::OtherClient => 0,
            };
            let from = reading.at.saturating_sub(new).max(earliest);
            timeline.add(*cause, Span { from, to: reading.at });
        }
        self.add_other_clients(&reading, timeline);
        if self.ran_until(&reading) {
            // Throttling may have begun at any time since.
            self.ran = self.before.at;
        }
        self.before = reading;
    }

    /// The load's connections are open before it is watched: what is accepted later is another client's. It is there until no more connections
    /// are open than before it came.
    fn add_other_clients(&mut self, reading: &Reading, timeline: &mut Timeline) {
        let (Some(now), Some(then)) = (reading.connections, self.before.connections) else { return };
        if now.accepted > then.accepted {
            self.without_others.get_or_insert(then.open);
        }
        let Some(without) = self.without_others else { return };
        timeline.add(Cause::OtherClient, Span { from: self.before.at, to: reading.at });
        if now.open <= without {
            self.without_others = None;
        }
    }

    /// Whether the service ran since the reading before; `true` if nobody knows. What a CPU does that is not throttled yet, or a thread that
    /// wakes up on it for a moment, is not worth the name.
    fn ran_until(&self, reading: &Reading) -> bool {
        let (Some(now), Some(then)) = (reading.cpu, self.before.cpu) else { return true };
        now.saturating_sub(then) * LEAST_RUN > reading.at - self.before.at
    }
}

/// Where lost time is counted.
struct Sources {
    cgroup: Option<Cgroup>,
    jvm: Option<JvmWatch>,
    go: Option<GoWatch>,
    /// A process in the network namespace of the service, if that is its alone.
    namespace: Option<Pid>,
    /// What tells for how long the service waited for disks and memory; otherwise the machine does.
    stalled: Option<Cgroup>,
    subject: Subject,
    proc: Proc,
    /// What its JVM stood still for other reasons than collections. The two are not counted at the same moment, so that it may seem to fall.
    stopped_otherwise: Nanos,
}

impl Sources {
    fn of(subject: &Subject) -> Sources {
        let proc = Proc::default();
        let target = Target::new(subject, &proc);
        let stalled = subject.cgroup.clone().filter(|cgroup| cgroup.pressure(Resource::Io).is_some());
        Sources {
            cgroup: subject.cgroup.clone(),
            jvm: JvmWatch::find(&target),
            go: GoWatch::find(&target),
            namespace: tcp::lone_namespace(&target),
            stalled,
            subject: subject.clone(),
            proc: proc.clone(),
            stopped_otherwise: 0,
        }
    }

    fn read(&mut self) -> Reading {
        let target = Target::new(&self.subject, &self.proc);
        // Before the throttled time, which must not be counted while the service seems to have run already.
        let cpu = self.cgroup.as_ref().and_then(Cgroup::cpu).map(|cpu| cpu.total_ns);
        let throttled =
            self.cgroup.as_ref().and_then(Cgroup::throttling).map(|throttling| throttling.throttled_ns);
        let stopped = self.jvm.as_ref().and_then(JvmWatch::stopped);
        if let Some(stopped) = &stopped {
            self.stopped_otherwise = self.stopped_otherwise.max(stopped.otherwise_ns);
        }
        let collected = self.go.as_ref().and_then(GoWatch::paused_ns);
        let waited = threads::run_queue_wait_ns(&self.proc, target.processes());
        let found = [
            (Cause::Throttled, throttled),
            (Cause::JvmCollected, stopped.as_ref().map(|stopped| stopped.collecting_ns)),
            (Cause::JvmStopped, stopped.as_ref().map(|_| self.stopped_otherwise)),
            (Cause::GoStopped, collected),
            (Cause::RunQueue, waited),
            (Cause::Disk, self.pressure(Resource::Io)),
            (Cause::Memory, self.pressure(Resource::Memory)),
        ];
        let lost = found.into_iter().filter_map(|(cause, ns)| Some((cause, ns?))).collect();
        let connections = self.namespace.and_then(|pid| tcp::connections(&self.proc, pid));
        Reading { at: now(), lost, cpu, connections }
    }

    /// For how long the service waited for a resource; in a cgroup of version 1, which does not tell it, anything on the machine.
    fn pressure(&self, on: Resource) -> Option<Nanos> {
        match &self.stalled {
            Some(cgroup) => cgroup.pressure(on),
            None => pressure_on_machine(&self.proc, on),
        }
    }

    fn watch(mut self, first: Reading, stop: &AtomicBool) -> Timeline {
        let mut timeline = Timeline { began: now(), ..Timeline::default() };
        for cause in first.lost.keys() {
            timeline.spans.insert(*cause, Vec::new());
        }
        timeline.spans.insert(Cause::Paused, Vec::new());
        if first.connections.is_some() {
            timeline.spans.insert(Cause::OtherClient, Vec::new());
        }
        let (mut spans, mut rest) = (Spans::from(first), INTERVAL);
        while !stop.load(Ordering::Relaxed) {
            let due = now() + nanos(rest);
            sleep(rest);
            let woke = now();
            if woke > due + nanos(LATE) {
                timeline.add(Cause::Paused, Span { from: due, to: woke });
            }
            let begun = Instant::now();
            spans.add(self.read(), &mut timeline);
            rest = INTERVAL.max(begun.elapsed() * LEAST_REST);
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

    /// The spans, in ms, of what is lost for a cause by each of these times: (at, lost, CPU time), all in ms.
    fn spans(cause: Cause, readings: &[(Nanos, Nanos, Option<f64>)]) -> Vec<(Nanos, Nanos)> {
        let mut readings = readings.iter().map(|(at, lost, cpu)| Reading {
            at: at * MS,
            lost: BTreeMap::from([(cause, lost * MS)]),
            cpu: cpu.map(|cpu| (cpu * MS as f64) as Nanos),
            connections: None,
        });
        let mut timeline = Timeline::default();
        let mut spans = Spans::from(readings.next().expect("a first reading"));
        readings.for_each(|reading| spans.add(reading, &mut timeline));
        let found = timeline.spans.remove(&cause).unwrap_or_default();
        found.into_iter().map(|span| (span.from / MS, span.to / MS)).collect()
    }

    #[test]
    fn lost_time_ends_where_it_is_seen() {
        assert_eq!(spans(Cause::JvmStopped, &[(100, 7, None), (102, 37, None)]), [(72, 102)]);
        assert_eq!(spans(Cause::GoStopped, &[(100, 7, None), (102, 8, None), (104, 8, None)]), [(101, 102)]);
        assert_eq!(spans(Cause::Throttled, &[(100, 7, None), (102, 7, None)]), []);
    }

    #[test]
    fn another_client_is_there_from_its_connection_to_its_end() {
        // The load has two connections. Another client has one from 12 to 34 ms, then the load closes one; at last a client has come and gone
        // between two readings.
        let readings = [(10, 2, 2), (12, 2, 2), (14, 3, 3), (24, 3, 3), (34, 3, 2), (40, 3, 1), (42, 4, 1)];
        let mut readings = readings.into_iter().map(|(at, accepted, open)| Reading {
            at: at * MS,
            lost: BTreeMap::new(),
            cpu: None,
            connections: Some(Connections { accepted, open }),
        });
        let mut timeline = Timeline::default();
        let mut spans = Spans::from(readings.next().expect("a first reading"));
        readings.for_each(|reading| spans.add(reading, &mut timeline));
        let found: Vec<_> =
            timeline.spans[&Cause::OtherClient].iter().map(|span| (span.from / MS, span.to / MS)).collect();
        assert_eq!(found, [(12, 34), (40, 42)]);
    }

    #[test]
    fn threads_that_wait_at_once_wait_no_longer_than_since_the_reading_before() {
        assert_eq!(spans(Cause::RunQueue, &[(100, 7, None), (102, 12, None)]), [(100, 102)]);
    }

    #[test]
    fn what_several_cpus_throttle_at_once_is_no_longer_than_the_service_stood_still() {
        // Both CPUs until 60 ms, none until 100 ms, where 40 ms of each are counted. Meanwhile a thread wakes up for a moment.
        let two = [
            (50, 0, Some(100.0)),
            (60, 0, Some(120.0)),
            (70, 0, Some(120.05)),
            (98, 0, Some(120.05)),
            (100, 80, Some(120.5)),
            (102, 80, Some(124.5)),
        ];
        assert_eq!(spans(Cause::Throttled, &two), [(50, 100)]);
        // One of them alone: what is counted is what it was.
        let one = [(50, 0, Some(50.0)), (60, 0, Some(60.0)), (98, 0, Some(60.0)), (100, 40, Some(60.5))];
        assert_eq!(spans(Cause::Throttled, &one), [(60, 100)]);
        // Nobody knows when it ran.
        assert_eq!(spans(Cause::Throttled, &[(50, 0, None), (98, 0, None), (100, 80, None)]), [(50, 100)]);
    }
}
