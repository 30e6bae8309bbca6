//! What the machine and a service did during a slice: the values of the metrics that probes declare. A value that could not be seen is
//! absent, never zero.

mod document;

use std::collections::BTreeMap;

use crate::MachineCpu;
use crate::metrics::{MACHINE_CPUS, MetricDeclaration, MetricName, OBSERVER_CPU, SERVICE_CPU, Scope, WALL};

pub use document::has_own_key;

/// The values of a slice's metrics by their names, each in the unit that its declaration says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observations(BTreeMap<MetricName, f64>);

impl Observations {
    /// The value of a metric; `None` if it was not seen.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// The value of a metric that is a whole number.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.get(name).map(|value| value as u64)
    }

    /// Enters a value, if there is one.
    pub fn set(&mut self, name: impl Into<MetricName>, value: impl Into<Option<u64>>) {
        if let Some(value) = value.into() {
            self.insert(name, value as f64);
        }
    }

    /// Enters a value; one that is not finite counts as not seen.
    pub fn insert(&mut self, name: impl Into<MetricName>, value: f64) {
        if value.is_finite() {
            self.0.insert(name.into(), value);
        }
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: impl Into<MetricName>, value: u64) -> Observations {
        self.set(name, value);
        self
    }

    /// The same with the CPU time of the machine by mode.
    #[must_use]
    pub fn with_machine_cpu(mut self, cpu: &MachineCpu) -> Observations {
        self.set_machine_cpu(cpu);
        self
    }

    /// Enters the CPU time of the machine by mode.
    pub fn set_machine_cpu(&mut self, cpu: &MachineCpu) {
        for (name, ns) in cpu.by_name() {
            self.set(name, ns);
        }
    }

    /// Adds what else was seen.
    pub fn extend(&mut self, other: Observations) {
        self.0.extend(other.0);
    }

    /// The metrics that were seen, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// Forgets what the whole machine did, where nobody can say for which of several cells it was.
    pub fn forget_machine(&mut self, declared: &[MetricDeclaration]) {
        for metric in declared.iter().filter(|metric| metric.scope == Scope::Machine) {
            self.0.remove(&metric.name);
        }
    }

    /// The length of the slice as its counters saw it.
    pub fn wall_ns(&self) -> Option<u64> {
        self.count(WALL)
    }

    /// CPU time of the service.
    pub fn service_cpu_ns(&self) -> Option<u64> {
        self.count(SERVICE_CPU)
    }

    /// CPU time of the process that read the counters.
    pub fn observer_cpu_ns(&self) -> Option<u64> {
        self.count(OBSERVER_CPU)
    }

    /// CPUs online on the service's machine, which need not be that of the load.
    pub fn machine_cpus(&self) -> Option<u32> {
        self.count(MACHINE_CPUS).and_then(|cpus| u32::try_from(cpus).ok())
    }

    /// CPU time of the service's machine by mode.
    pub fn machine_cpu(&self) -> Option<MachineCpu> {
        MachineCpu::from_names(|name| self.count(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Unit;

    #[test]
    fn the_machines_values_are_forgotten_and_the_others_kept() {
        let declared = [
            MetricDeclaration::counter("a.service", Unit::Count),
            MetricDeclaration::counter("a.machine", Unit::Count).of_the_machine(),
            MetricDeclaration::counter("a.measurement", Unit::Count).of_the_measurement(),
        ];
        let mut seen =
            Observations::default().with("a.service", 1).with("a.machine", 2).with("a.measurement", 3);
        seen.forget_machine(&declared);
        assert_eq!(seen, Observations::default().with("a.service", 1).with("a.measurement", 3));
    }

    #[test]
    fn the_modes_of_the_machine_are_there_all_or_not_at_all() {
        let cpu = MachineCpu { user_ns: 1, steal_ns: 2, ..MachineCpu::default() };
        let seen = Observations::default().with_machine_cpu(&cpu);
        assert_eq!(seen.machine_cpu(), Some(cpu));
        assert_eq!(Observations::default().with("cpu.machine.user", 1).machine_cpu(), None);
    }

    #[test]
    fn what_is_no_number_was_not_seen() {
        let mut seen = Observations::default();
        seen.insert("a.ratio", f64::NAN);
        seen.set("a.count", None);
        assert_eq!(seen, Observations::default());
    }
}
