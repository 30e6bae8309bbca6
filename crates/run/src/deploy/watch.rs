//! Who reads the counters of a site's service: this machine, an agent on its node, or its node's kubelet.

use std::time::{Duration, Instant};

use loadline_agent::RemoteObserver;
use loadline_machine::Cgroup;
use loadline_model::Observations;
use loadline_observe::{Snapshot, Subject, between};
use loadline_platform::{Deployment, Usage, UsageReader};

use crate::deployer::{MachineId, ReadOut};
use crate::error::BoxError;

/// By which share of the time between two questions a kubelet's two looks may be nearer or farther apart.
const KUBELET_TOLERANCE: f64 = 0.1;

/// Reads the counters of one deployment, before and after.
pub struct Watch {
    observer: Observer,
    machine: Option<MachineId>,
    begun: (ReadOut, Reading),
}

enum Observer {
    /// The service is on this machine, or somebody else's.
    Here(Subject),
    /// An agent on the service's node.
    Agent(Box<RemoteObserver>),
    /// Whoever keeps account of the service's usage, such as the kubelet of its node.
    Usage(UsageReader),
    /// Nobody: it is elsewhere and can't be read.
    Nobody,
}

/// The counters of one moment, as far as they could be read.
enum Reading {
    Snapshot(Option<Box<Snapshot>>),
    /// With the moment at which it was asked for.
    Usage(Option<Usage>, Instant),
    Nothing,
}

impl Watch {
    /// The way that fits the deployment; `here` is this machine.
    pub fn of(deployment: &dyn Deployment, here: Option<MachineId>) -> Result<Watch, BoxError> {
        use loadline_platform::Subject as At;
        let (observer, machine) = match deployment.subject() {
            At::Here { root_pids, cgroup } => {
                (Observer::Here(Subject { root_pids, cgroup: cgroup.map(observed) }), here)
            }
            At::Usage(reader) => (Observer::Usage(reader), None),
            At::Nobody => (Observer::Nobody, None),
            At::Agent(agent, container) => {
                let observer = RemoteObserver::start(agent.connect()?, &container)?;
                let machine = MachineId::of(observer.machine());
                (Observer::Agent(Box::new(observer)), machine)
            }
        };
        Ok(Watch { observer, machine, begun: (ReadOut::Everything, Reading::Nothing) })
    }

    /// The machine that the counters are of.
    pub fn machine(&self) -> Option<MachineId> {
        self.machine.clone()
    }

    /// The processes of the service, if they are on this machine.
    pub fn pids(&self) -> Vec<u32> {
        match &self.observer {
            Observer::Here(subject) => subject.pids(),
            Observer::Agent(_) | Observer::Usage(_) | Observer::Nobody => Vec::new(),
        }
    }

    /// What one reading says of this moment: memory, and no change of anything.
    pub fn now(&mut self) -> Observations {
        let reading = self.read(ReadOut::Everything);
        reading.until(&reading)
    }

    /// Reads the counters. What can't be read is nothing; no reading ends a run.
    pub fn begin(&mut self, what: ReadOut) {
        self.begun = (what, self.read(what));
    }

    /// Reads the counters again; returns what happened since.
    pub fn end(&mut self) -> Observations {
        let later = self.read(self.begun.0);
        self.begun.1.until(&later)
    }

    fn read(&mut self, what: ReadOut) -> Reading {
        match &mut self.observer {
            Observer::Here(subject) => Reading::Snapshot(Some(Box::new(match what {
                ReadOut::Everything => Snapshot::take(subject),
                ReadOut::ServiceCpu => Snapshot::take_cpu(subject),
            }))),
            Observer::Agent(observer) => Reading::Snapshot(observer.snapshot().ok().map(Box::new)),
            Observer::Usage(reader) => Reading::Usage(reader.read(), Instant::now()),
            Observer::Nobody => Reading::Nothing,
        }
    }
}

impl Reading {
    /// What happened from one reading to a later one.
    fn until(&self, later: &Reading) -> Observations {
        match (self, later) {
            (Reading::Snapshot(Some(before)), Reading::Snapshot(Some(after))) => between(before, after),
            (Reading::Usage(Some(before), from), Reading::Usage(Some(after), to)) => {
                by_kubelet(before, after, to.duration_since(*from))
            }
            _ => Observations::default(),
        }
    }
}

/// The kubelet looks at containers every 10 to 15 s, and answers with what it saw last. Its CPU time is that of a slice only where it looked
/// about as long apart as it was asked; else it is another slice's too, or none at all.
fn by_kubelet(before: &Usage, after: &Usage, asked_apart: Duration) -> Observations {
    let is_of_the_slice =
        |seen_apart: &Duration| seen_apart.abs_diff(asked_apart) <= asked_apart.mul_f64(KUBELET_TOLERANCE);
    let passed = after.at.duration_since(before.at).ok().filter(is_of_the_slice);
    Observations {
        wall_ns: passed.and_then(|passed| u64::try_from(passed.as_nanos()).ok()),
        service_cpu_ns: passed.and_then(|_| after.cpu_ns.checked_sub(before.cpu_ns)),
        cgroup_memory_bytes: after.memory_bytes,
        ..Observations::default()
    }
}

fn observed(cgroup: Cgroup) -> loadline_observe::Cgroup {
    match cgroup {
        Cgroup::V1 { cpu, cpuacct, memory, .. } => loadline_observe::Cgroup::V1 { cpu, cpuacct, memory },
        Cgroup::V2 { dir } => loadline_observe::Cgroup::V2 { dir },
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    /// What a slice of 60 s is said to have used by a kubelet that looked at these seconds.
    fn seen(from_s: u64, to_s: u64) -> Observations {
        let begun = Instant::now();
        let reading = |second, cpu_ns, asked| {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            Reading::Usage(Some(Usage { at, cpu_ns, memory_bytes: Some(4096) }), asked)
        };
        reading(from_s, 1_000, begun).until(&reading(to_s, 5_000, begun + Duration::from_secs(60)))
    }

    #[test]
    fn a_kubelets_figures_give_cpu_time_and_memory() {
        let seen = seen(10, 72);
        assert_eq!((seen.service_cpu_ns, seen.cgroup_memory_bytes), (Some(4_000), Some(4096)));
        assert_eq!(seen.machine_busy_ns, None);
    }

    #[test]
    fn a_kubelets_figures_of_another_time_give_no_cpu_time() {
        assert_eq!(seen(10, 10).service_cpu_ns, None);
        assert_eq!(seen(10, 50).service_cpu_ns, None);
        assert_eq!(seen(10, 90).service_cpu_ns, None);
        assert_eq!(seen(10, 90).cgroup_memory_bytes, Some(4096));
    }

    #[test]
    fn a_reading_that_failed_is_no_zero() {
        let failed = || Reading::Usage(None, Instant::now());
        assert_eq!(failed().until(&failed()), Observations::default());
    }
}
