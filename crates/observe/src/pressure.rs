//! For how long something of a service waited for a CPU, for memory or for a disk: pressure stall information of its cgroup, version 2
//! (Documentation/accounting/psi.rst). Waiting for a CPU includes being throttled.

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use serde::{Deserialize, Serialize};

use crate::cgroup::{Cgroup, Resource};
use crate::probe::{Probe, Target};

const CPU: &str = "pressure.cpu";
const MEMORY: &str = "pressure.memory";
const IO: &str = "pressure.io";

/// Reads the pressure on a service.
pub(crate) struct PressureProbe;

/// Since the cgroup was made, ns: the time in which at least one of its tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pressure {
    cpu: Option<u64>,
    memory: Option<u64>,
    io: Option<u64>,
}

impl Probe for PressureProbe {
    type Reading = Pressure;

    fn name(&self) -> &'static str {
        "pressure"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let waiting = |name, label| {
            MetricDeclaration::counter(name, Unit::Nanoseconds).shown_as(label, HigherIs::Slower)
        };
        vec![
            waiting(CPU, "pressure on CPU per request"),
            waiting(MEMORY, "pressure on memory per request"),
            waiting(IO, "pressure on disks per request"),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Pressure> {
        let cgroup: &Cgroup = target.subject().cgroup.as_ref()?;
        let pressure = Pressure {
            cpu: cgroup.pressure(Resource::Cpu),
            memory: cgroup.pressure(Resource::Memory),
            io: cgroup.pressure(Resource::Io),
        };
        (pressure.cpu.or(pressure.memory).or(pressure.io)).map(|_| pressure)
    }

    fn between(&self, before: &Pressure, after: &Pressure, seen: &mut Observations) {
        let waited = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
        seen.set(CPU, waited(after.cpu, before.cpu));
        seen.set(MEMORY, waited(after.memory, before.memory));
        seen.set(IO, waited(after.io, before.io));
    }
}
