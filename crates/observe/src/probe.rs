//! The interface of a probe: what it declares, what it reads before and after a slice, and what follows from the two.

use std::cell::OnceCell;

use loadline_model::Observations;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::runtime::Runtime;
use rustix::process::Pid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::process;
use crate::procfs::Proc;
use crate::subject::Subject;

/// Reads something of a service or its machine. One is made for each subject, so it may keep what it needs from one reading to the next:
/// an open file, the place reached in a log, a program attached to the kernel.
pub trait Probe: Send {
    /// What it reads at one moment. It may be read on one machine and compared on another.
    type Reading: Serialize + DeserializeOwned;

    /// Its name among the probes of a subject.
    fn name(&self) -> &'static str;

    /// The metrics that it can give. A probe that finds its metrics in the subject may declare more from reading to reading.
    fn metrics(&self) -> Vec<MetricDeclaration>;

    /// Reads without waiting for anything; `None` is nothing to be read here. No reading ends a run.
    fn read(&mut self, target: &Target<'_>) -> Option<Self::Reading>;

    /// Enters what happened between two readings; of what could not be seen, nothing.
    fn between(&self, before: &Self::Reading, after: &Self::Reading, seen: &mut Observations);

    /// What it finds out about the service's language runtime, once a deployment and while no load runs: it may ask the service.
    fn runtime(&mut self, _target: &Target<'_>) -> Runtime {
        Runtime::default()
    }
}

/// What is read at one moment: a subject on its machine.
pub struct Target<'a> {
    subject: &'a Subject,
    proc: &'a Proc,
    processes: OnceCell<Vec<Pid>>,
    service: OnceCell<Vec<Pid>>,
}

impl<'a> Target<'a> {
    pub(crate) fn new(subject: &'a Subject, proc: &'a Proc) -> Target<'a> {
        Target { subject, proc, processes: OnceCell::new(), service: OnceCell::new() }
    }

    /// The subject.
    pub fn subject(&self) -> &'a Subject {
        self.subject
    }

    /// The text of a file of proc(5), such as `stat` or `12/status`.
    pub fn proc_file(&self, path: &str) -> Option<String> {
        self.proc.read(path)
    }

    /// The subject's processes, looked up once for all probes.
    pub fn processes(&self) -> &[Pid] {
        self.processes.get_or_init(|| self.subject.processes(self.proc))
    }

    /// Those of the service alone, without the proxies before it; of a service whose first process has ended, all.
    pub(crate) fn service(&self) -> &[Pid] {
        let found = self.service.get_or_init(|| match self.subject.roots().next() {
            Some(first) if self.processes().contains(&first) => process::tree(self.proc, first),
            _ => Vec::new(),
        });
        if found.is_empty() { self.processes() } else { found }
    }

    pub(crate) fn proc(&self) -> &'a Proc {
        self.proc
    }
}

/// A probe whatever its readings are: they are JSON.
pub trait AnyProbe: Send {
    /// As [`Probe::name`].
    fn name(&self) -> &'static str;
    /// As [`Probe::metrics`].
    fn metrics(&self) -> Vec<MetricDeclaration>;
    /// As [`Probe::read`].
    fn read(&mut self, target: &Target<'_>) -> Option<Value>;
    /// As [`Probe::between`]; readings that are not this probe's say nothing.
    fn between(&self, before: &Value, after: &Value, seen: &mut Observations);
    /// As [`Probe::runtime`].
    fn runtime(&mut self, target: &Target<'_>) -> Runtime;
}

impl<P: Probe> AnyProbe for P {
    fn name(&self) -> &'static str {
        Probe::name(self)
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        Probe::metrics(self)
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Value> {
        serde_json::to_value(Probe::read(self, target)?).ok()
    }

    fn between(&self, before: &Value, after: &Value, seen: &mut Observations) {
        if let (Ok(before), Ok(after)) = (P::Reading::deserialize(before), P::Reading::deserialize(after)) {
            Probe::between(self, &before, &after, seen);
        }
    }

    fn runtime(&mut self, target: &Target<'_>) -> Runtime {
        Probe::runtime(self, target)
    }
}
