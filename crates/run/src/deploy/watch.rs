//! Reads the probes of a site's service: on this machine, by an agent on its node, or from the account that its node's kubelet keeps.

mod endpoint;
mod usage;

use loadline_agent::RemoteObserver;
use loadline_machine::Cgroup;
use loadline_model::Observations;
use loadline_model::metrics::{JIT, MACHINE_CPU, MetricDeclaration, OBSERVER_CPU, SERVICE_CPU, WALL};
use loadline_model::runtime::Runtime;
use loadline_observe::{Observer, Snapshot, Subject, TimelineWatch, Wanted, between_remote, probes};
use loadline_platform::Deployment;

use crate::deployer::{MachineId, ReadOut};
use crate::error::BoxError;
use endpoint::EndpointProbe;
use usage::UsageProbe;

pub use endpoint::Endpoint;

/// What says how long the CPUs worked, and for whom.
const CPU_TIMES: [&str; 4] = [WALL, OBSERVER_CPU, MACHINE_CPU, SERVICE_CPU];

/// Reads the probes of one deployment, before and after.
pub struct Watch {
    source: Source,
    machine: Option<MachineId>,
    wanted: Wanted,
    before: Option<Snapshot>,
    /// Reads what the service shows itself, if it is asked for.
    shown: Option<Observer>,
    shown_before: Option<Snapshot>,
}

/// Who reads.
enum Source {
    /// This process; without a probe where nobody may read anything.
    Here(Observer),
    /// An agent on the service's node.
    Agent(Box<RemoteObserver>),
}

impl Watch {
    /// The way that fits the deployment; `here` is this machine, where services and load run on these CPUs.
    pub fn of(
        deployment: &dyn Deployment,
        here: Option<MachineId>,
        cpus: &[usize],
    ) -> Result<Watch, BoxError> {
        use loadline_platform::Subject as At;
        let without_subject = |probes| Source::Here(Observer::with_probes(Subject::default(), probes));
        let (source, machine) = match deployment.subject() {
            At::Here { root_pids, cgroup } => {
                let subject = Subject { root_pids, cgroup: cgroup.map(observed) };
                (Source::Here(Observer::on(subject, cpus)), here)
            }
            At::Usage(reader) => (without_subject(vec![Box::new(UsageProbe::new(reader))]), None),
            At::Nobody => (without_subject(Vec::new()), None),
            At::Agent(agent, container) => {
                let observer = RemoteObserver::start(agent.connect()?, &container)?;
                let machine = MachineId::of(observer.machine());
                (Source::Agent(Box::new(observer)), machine)
            }
        };
        Ok(Watch {
            source,
            machine,
            wanted: Wanted::Everything,
            before: None,
            shown: None,
            shown_before: None,
        })
    }

    /// The same, and what the service shows at an endpoint.
    #[must_use]
    pub fn with_endpoint(self, endpoint: Endpoint) -> Watch {
        let probe = EndpointProbe::new(endpoint);
        Watch { shown: Some(Observer::with_probes(Subject::default(), vec![Box::new(probe)])), ..self }
    }

    /// The machine that the counters are of.
    pub fn machine(&self) -> Option<MachineId> {
        self.machine.clone()
    }

    /// The processes of the service, if they are on this machine.
    pub fn pids(&self) -> Vec<u32> {
        match &self.source {
            Source::Here(observer) => observer.subject().pids(),
            Source::Agent(_) => Vec::new(),
        }
    }

    /// The metrics that the probes declare.
    pub fn metrics(&mut self) -> Vec<MetricDeclaration> {
        let mut metrics = match &mut self.source {
            Source::Here(observer) => observer.metrics(),
            // An agent of this version has these probes; what else it has found it can say itself.
            Source::Agent(observer) => observer.metrics().unwrap_or_else(|_| probes::metrics()),
        };
        if let Some(shown) = &mut self.shown {
            // What there is, it knows once it has read.
            shown.read(&Wanted::Everything);
            metrics.extend(shown.metrics());
        }
        metrics
    }

    /// What the probes find out about the service's language runtime; nothing if they are elsewhere and cannot be asked.
    pub fn runtime(&mut self) -> Runtime {
        let mut found = match &mut self.source {
            Source::Here(observer) => observer.runtime(),
            Source::Agent(observer) => observer.runtime().unwrap_or_default(),
        };
        if let Some(shown) = &mut self.shown {
            found.merge(shown.runtime());
        }
        found
    }

    /// Begins to watch when the service is held up, if it is on this machine and a thread can be started.
    pub fn timeline(&self) -> Option<TimelineWatch> {
        match &self.source {
            Source::Here(observer) if !observer.subject().pids().is_empty() => {
                TimelineWatch::start(observer.subject()).ok()
            }
            Source::Here(_) | Source::Agent(_) => None,
        }
    }

    /// What one reading says of this moment: memory, and no change of anything.
    pub fn now(&mut self) -> Observations {
        let snapshot = self.read(&Wanted::Everything);
        self.between(&snapshot, &snapshot)
    }

    /// Reads the probes. What cannot be read is nothing; no reading ends a run.
    pub fn begin(&mut self, what: ReadOut) {
        self.wanted = match what {
            ReadOut::Everything => Wanted::Everything,
            ReadOut::ServiceCpu => Wanted::Metrics(vec![SERVICE_CPU.into()]),
            ReadOut::Warmth => Wanted::Metrics(vec![SERVICE_CPU.into(), JIT.into()]),
        };
        // Before the counters, so that they do not count it as the service's work in the slice.
        self.shown_before = self.read_shown();
        self.before = self.read(&self.wanted.clone());
    }

    /// Reads the CPU times of service and machine while the service works; returns what happened since. `None` where an agent reads.
    pub fn cpu_so_far(&mut self) -> Option<Observations> {
        let Source::Here(observer) = &mut self.source else { return None };
        let now = observer.read(&Wanted::Metrics(CPU_TIMES.map(Into::into).to_vec()));
        Some(observer.between(self.before.as_ref()?, &now))
    }

    /// Reads the probes again; returns what happened since.
    pub fn end(&mut self) -> Observations {
        let after = self.read(&self.wanted.clone());
        let mut seen = self.between(&self.before, &after);
        let shown = self.shown_before.take().zip(self.read_shown());
        if let Some(((before, after), observer)) = shown.zip(self.shown.as_ref()) {
            seen.extend(observer.between(&before, &after));
        }
        seen
    }

    /// What the service shows, unless it is only asked what CPU time it uses while another is measured.
    fn read_shown(&mut self) -> Option<Snapshot> {
        let wanted = self.wanted.clone();
        self.shown.as_mut().filter(|_| wanted == Wanted::Everything).map(|shown| shown.read(&wanted))
    }

    fn read(&mut self, wanted: &Wanted) -> Option<Snapshot> {
        match &mut self.source {
            Source::Here(observer) => Some(observer.read(wanted)),
            Source::Agent(observer) => observer.read(wanted).ok(),
        }
    }

    fn between(&self, before: &Option<Snapshot>, after: &Option<Snapshot>) -> Observations {
        let (Some(before), Some(after)) = (before, after) else { return Observations::default() };
        match &self.source {
            Source::Here(observer) => observer.between(before, after),
            Source::Agent(_) => between_remote(before, after),
        }
    }
}

fn observed(cgroup: Cgroup) -> loadline_observe::Cgroup {
    match cgroup {
        Cgroup::V1 { cpu, cpuacct, memory, .. } => loadline_observe::Cgroup::V1 { cpu, cpuacct, memory },
        Cgroup::V2 { dir } => loadline_observe::Cgroup::V2 { dir },
    }
}
