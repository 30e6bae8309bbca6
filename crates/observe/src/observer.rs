//! The probes of one subject, read together. Two readings, before and after a slice, make its observations.

use std::collections::BTreeMap;
use std::path::PathBuf;

use loadline_model::Observations;
use loadline_model::metrics::{MetricDeclaration, MetricName};
use loadline_model::runtime::Runtime;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::probe::{AnyProbe, Target};
use crate::probes;
use crate::procfs::Proc;
use crate::subject::Subject;

/// Reads the probes of one subject.
pub struct Observer {
    subject: Subject,
    probes: Vec<Box<dyn AnyProbe>>,
    proc: Proc,
}

/// How much is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Everything there is.
    Everything,
    /// What gives one of these metrics.
    Metrics(Vec<MetricName>),
}

/// The readings of a subject's probes at one moment, by the probes' names; what could not be read is left out. It can be taken on one
/// machine and compared on another, with a snapshot of the same machine and boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Snapshot(BTreeMap<String, Value>);

impl Observer {
    /// All probes of loadline.
    pub fn new(subject: Subject) -> Observer {
        Observer::on(subject, &[])
    }

    /// All probes of loadline, of a service and a load that run on these CPUs; none: on any.
    pub fn on(subject: Subject, cpus: &[usize]) -> Observer {
        Observer::with_probes(subject, probes::all(cpus))
    }

    /// These probes.
    pub fn with_probes(subject: Subject, probes: Vec<Box<dyn AnyProbe>>) -> Observer {
        Observer { subject, probes, proc: Proc::default() }
    }

    /// The same, with proc(5) somewhere else than at `/proc`: that of the machine below a container, or a recorded one.
    #[must_use]
    pub fn with_proc_at(self, path: impl Into<PathBuf>) -> Observer {
        Observer { proc: Proc::at(path), ..self }
    }

    /// What is observed.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The metrics that its probes declare.
    pub fn metrics(&self) -> Vec<MetricDeclaration> {
        self.probes.iter().flat_map(|probe| probe.metrics()).collect()
    }

    /// Reads the probes, without waiting for anything.
    ///
    /// They are not read at the same instant: from first to last it takes about 50 µs for each thread of the service and 100 µs besides,
    /// so take snapshots while no load runs. The CPU time of a service with a cgroup alone takes a tenth of that.
    pub fn read(&mut self, wanted: &Wanted) -> Snapshot {
        let target = Target::new(&self.subject, &self.proc);
        let is_wanted = |probe: &dyn AnyProbe| match wanted {
            Wanted::Everything => true,
            Wanted::Metrics(names) => probe.metrics().iter().any(|metric| names.contains(&metric.name)),
        };
        let readings = self.probes.iter_mut().filter(|probe| is_wanted(probe.as_ref())).filter_map(|probe| {
            let reading = probe.read(&target)?;
            Some((probe.name().to_owned(), reading))
        });
        Snapshot(readings.collect())
    }

    /// What its probes find out about the service's language runtime. It may take seconds, and asks the service: once a deployment, while
    /// no load runs.
    pub fn runtime(&mut self) -> Runtime {
        let target = Target::new(&self.subject, &self.proc);
        let mut found = Runtime::default();
        for probe in &mut self.probes {
            found.merge(probe.runtime(&target));
        }
        found
    }

    /// What happened between two snapshots of this subject, in this order.
    pub fn between(&self, before: &Snapshot, after: &Snapshot) -> Observations {
        between(&self.probes, before, after)
    }
}

/// What happened between two snapshots that an agent of this version took with all probes of loadline, in this order.
pub fn between_remote(before: &Snapshot, after: &Snapshot) -> Observations {
    between(&probes::all(&[]), before, after)
}

fn between(probes: &[Box<dyn AnyProbe>], before: &Snapshot, after: &Snapshot) -> Observations {
    let mut seen = Observations::default();
    for probe in probes {
        if let (Some(before), Some(after)) = (before.0.get(probe.name()), after.0.get(probe.name())) {
            probe.between(before, after, &mut seen);
        }
    }
    seen
}
