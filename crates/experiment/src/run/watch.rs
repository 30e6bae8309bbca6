//! Who reads the counters of a site's service: this machine, an agent on its node, or its node's kubelet.

use loadline_agent::RemoteObserver;
use loadline_observe::{Observations, Snapshot, Subject, between};
use loadline_platform::{Cgroup, Deployment, KubeletReader, KubeletReading, Observer};

use super::RunError;

/// A way to read the counters of one deployment.
pub enum Watch {
    /// The service is on this machine, or somebody else's.
    Here(Subject),
    /// An agent on the service's node.
    Agent(RemoteObserver),
    /// The kubelet of the service's node.
    Kubelet(KubeletReader),
}

/// The counters of one moment, as far as they could be read.
pub enum Reading {
    Snapshot(Option<Box<Snapshot>>),
    Kubelet(Option<KubeletReading>),
}

impl Watch {
    /// The way that fits the deployment.
    pub fn of(site: &str, deployment: &dyn Deployment) -> Result<Watch, RunError> {
        Ok(match deployment.observer() {
            None => Watch::Here(subject(deployment)),
            Some(Observer::Kubelet(reader)) => Watch::Kubelet(reader),
            Some(Observer::Agent(agent, container)) => {
                let started = RemoteObserver::start(agent.connect()?, &container);
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

    /// Reads the counters. What can't be read is nothing; no reading ends a run.
    pub fn read(&mut self) -> Reading {
        match self {
            Watch::Here(subject) => Reading::Snapshot(Some(Box::new(Snapshot::take(subject)))),
            Watch::Agent(observer) => Reading::Snapshot(observer.snapshot().ok().map(Box::new)),
            Watch::Kubelet(reader) => Reading::Kubelet(reader.read()),
        }
    }
}

impl Reading {
    /// What happened from one reading to a later one.
    pub fn until(&self, later: &Reading) -> Observations {
        match (self, later) {
            (Reading::Snapshot(Some(before)), Reading::Snapshot(Some(after))) => between(before, after),
            (Reading::Kubelet(Some(before)), Reading::Kubelet(Some(after))) => by_kubelet(before, after),
            _ => Observations::default(),
        }
    }
}

/// Between slices the service idles, so its CPU time between two readings is that of the slice, even if they were taken a moment before
/// and after. Figures that the kubelet gave twice say nothing.
fn by_kubelet(before: &KubeletReading, after: &KubeletReading) -> Observations {
    let passed = after.at.duration_since(before.at).ok().filter(|passed| !passed.is_zero());
    Observations {
        wall_ns: passed.and_then(|passed| u64::try_from(passed.as_nanos()).ok()),
        service_cpu_ns: passed.and_then(|_| after.cpu_ns.checked_sub(before.cpu_ns)),
        cgroup_memory_bytes: after.memory_bytes,
        ..Observations::default()
    }
}

fn subject(deployment: &dyn Deployment) -> Subject {
    let cgroup = deployment.cgroup().map(|cgroup| match cgroup {
        Cgroup::V1 { cpu, cpuacct, memory, .. } => loadline_observe::Cgroup::V1 {
            cpu: cpu.clone(),
            cpuacct: cpuacct.clone(),
            memory: memory.clone(),
        },
        Cgroup::V2 { dir } => loadline_observe::Cgroup::V2 { dir: dir.clone() },
    });
    Subject { root_pid: deployment.root_pid(), cgroup }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn reading(seconds: u64, cpu_ns: u64) -> Reading {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Reading::Kubelet(Some(KubeletReading { at, cpu_ns, memory_bytes: Some(4096) }))
    }

    #[test]
    fn a_kubelets_figures_give_cpu_time_and_memory() {
        let seen = reading(10, 1_000).until(&reading(12, 5_000));
        assert_eq!((seen.service_cpu_ns, seen.cgroup_memory_bytes), (Some(4_000), Some(4096)));
        assert_eq!(seen.machine_busy_ns, None);
    }

    #[test]
    fn figures_that_a_kubelet_gave_twice_say_nothing_of_a_slice() {
        assert_eq!(reading(10, 1_000).until(&reading(10, 1_000)).service_cpu_ns, None);
    }

    #[test]
    fn a_reading_that_failed_is_no_zero() {
        assert_eq!(reading(10, 1_000).until(&Reading::Kubelet(None)), Observations::default());
    }
}
