//! Who reads the counters of a site's service: this machine, an agent on its node, or its node's kubelet.

use std::time::{Duration, Instant};

use loadline_agent::RemoteObserver;
use loadline_machine::Cgroup;
use loadline_observe::{Observations, Snapshot, Subject, between};
use loadline_platform::{Deployment, Usage, UsageReader};

use super::RunError;

/// By which share of the time between two questions a kubelet's two looks may be nearer or farther apart.
const KUBELET_TOLERANCE: f64 = 0.1;

/// A way to read the counters of one deployment.
pub enum Watch {
    /// The service is on this machine, or somebody else's.
    Here(Subject),
    /// An agent on the service's node.
    Agent(RemoteObserver),
    /// Whoever keeps account of the service's usage, such as the kubelet of its node.
    Usage(UsageReader),
    /// Nobody: it is elsewhere and can't be read.
    Nobody,
}

/// The counters of one moment, as far as they could be read.
pub enum Reading {
    Snapshot(Option<Box<Snapshot>>),
    /// With the moment at which it was asked for.
    Usage(Option<Usage>, Instant),
    Nothing,
}

impl Watch {
    /// The way that fits the deployment.
    pub fn of(site: &str, deployment: &dyn Deployment) -> Result<Watch, RunError> {
        Ok(match deployment.subject() {
            loadline_platform::Subject::Here { root_pids, cgroup } => {
                Watch::Here(Subject { root_pids, cgroup: cgroup.map(observed) })
            }
            loadline_platform::Subject::Usage(reader) => Watch::Usage(reader),
            loadline_platform::Subject::Nobody => Watch::Nobody,
            loadline_platform::Subject::Agent(agent, container) => {
                let connection = agent.connect();
                let connection =
                    connection.map_err(|source| RunError::Site { site: site.to_owned(), source })?;
                let started = RemoteObserver::start(connection, &container);
                Watch::Agent(
                    started
                        .map_err(|error| RunError::Engine { site: site.to_owned(), source: error.into() })?,
                )
            }
        })
    }

    /// Whether the service uses the CPUs of this machine.
    pub fn is_here(&self) -> bool {
        matches!(self, Watch::Here(_))
    }

    /// The processes of the service, if they are on this machine.
    pub fn pids(&self) -> Vec<u32> {
        match self {
            Watch::Here(subject) => subject.pids(),
            Watch::Agent(_) | Watch::Usage(_) | Watch::Nobody => Vec::new(),
        }
    }

    /// Reads the counters. What can't be read is nothing; no reading ends a run.
    pub fn read(&mut self) -> Reading {
        match self {
            Watch::Here(subject) => Reading::Snapshot(Some(Box::new(Snapshot::take(subject)))),
            Watch::Agent(observer) => Reading::Snapshot(observer.snapshot().ok().map(Box::new)),
            Watch::Usage(reader) => Reading::Usage(reader.read(), Instant::now()),
            Watch::Nobody => Reading::Nothing,
        }
    }
}

impl Watch {
    /// Reads the service's CPU time, where nothing else is asked for.
    pub fn read_cpu(&mut self) -> Reading {
        match self {
            Watch::Here(subject) => Reading::Snapshot(Some(Box::new(Snapshot::take_cpu(subject)))),
            _ => self.read(),
        }
    }
}

impl Reading {
    /// What happened from one reading to a later one.
    pub fn until(&self, later: &Reading) -> Observations {
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
