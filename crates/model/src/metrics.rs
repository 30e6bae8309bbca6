//! The declarations of the metrics that probes read. A run stores those of its own metrics, so that it can be reported by a program that has
//! other probes, or none.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of a metric: its namespace first, as in `softirqs.net_rx` or `jvm.gc.pause`.
pub type MetricName = Cow<'static, str>;

/// How the names of what services tell of themselves begin.
pub const OWN: &str = "app.";
/// The length of a slice as its counters saw it, ns.
pub const WALL: &str = "time.wall";
/// CPU time of what a service has beside it for itself.
pub const NEEDS_CPU: &str = "cpu.needs";
/// CPU time of what all services share.
pub const SHARED_NEEDS_CPU: &str = "cpu.needs.shared";
/// CPU time of the service, ns.
pub const SERVICE_CPU: &str = "cpu.service";
/// CPU time of the process that read the counters, which may be that of the load as well, ns.
pub const OBSERVER_CPU: &str = "cpu.observer";
/// Time in which the machine's CPUs worked, ns.
pub const MACHINE_CPU: &str = "cpu.machine";
/// CPUs of the machine that are online.
pub const MACHINE_CPUS: &str = "machine.cpus";
/// Time for which tasks ran on the machine's CPUs, but for the kernel's threads that handle soft interrupts, ns.
pub const MACHINE_TASKS: &str = "cpu.machine.tasks";
/// Time that the hypervisor took from the CPU that lost most, of those on which services and load run if these are known, ns.
pub const MOST_STOLEN: &str = "cpu.machine.steal.most";
/// Time for which the service's threads were ready to run and did not, ns.
pub const RUN_QUEUE_WAIT: &str = "cpu.run_queue_wait";
/// Time for which a CPU limit held the service back, ns, summed over CPUs.
pub const THROTTLED: &str = "cpu.throttled";
/// Periods of the service's CPU quota in which it wanted to run.
pub const THROTTLING_PERIODS: &str = "throttling.periods";
/// Periods in which it used up its quota.
pub const THROTTLED_PERIODS: &str = "throttling.throttled_periods";
/// Time for which a JVM's compiler worked, ns.
pub const JIT: &str = "jvm.jit";
/// Resident memory of the service's processes, bytes.
pub const RESIDENT_MEMORY: &str = "memory.resident";
/// Memory charged to the service's cgroup, bytes.
pub const CGROUP_MEMORY: &str = "memory.cgroup";

/// What a probe says of one of its metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricDeclaration {
    /// Its name.
    pub name: MetricName,
    /// Unit of its values.
    pub unit: Unit,
    /// Whose it is.
    pub scope: Scope,
    /// What a value is.
    pub kind: MetricKind,
    /// How tables show it; without it, it is in the slices alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureDeclaration>,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// A plain number.
    #[serde(rename = "1")]
    Count,
    /// Requests per second.
    #[serde(rename = "/s")]
    PerSecond,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
}

/// Whose doing a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The service's alone.
    Service,
    /// The whole machine's: while several cells are measured at once, nobody can say for which of them it was.
    Machine,
    /// Nobody's, but of the measurement itself, such as its length: as true of each of several cells as of one.
    Measurement,
}

/// What a value of a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// What was added during a slice. Its figure is per answered request.
    Counter,
    /// What was found at the end of a slice. Its figure is the mean over slices.
    Level,
}

/// How tables show a metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FigureDeclaration {
    /// What a table calls it. A label that begins with two spaces belongs to the metric above.
    pub label: Cow<'static, str>,
    /// What a higher figure means.
    pub higher_is: HigherIs,
    /// Whether short tables show it, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,
}

/// What a figure that is higher than the baseline's means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HigherIs {
    /// The figure is a time.
    Slower,
    /// The figure is CPU time or memory.
    Costlier,
    /// The figure is a count.
    More,
}

impl MetricDeclaration {
    /// A counter of the service.
    pub fn counter(name: &'static str, unit: Unit) -> MetricDeclaration {
        MetricDeclaration {
            name: Cow::Borrowed(name),
            unit,
            scope: Scope::Service,
            kind: MetricKind::Counter,
            figure: None,
        }
    }

    /// A level of the service.
    pub fn level(name: &'static str, unit: Unit) -> MetricDeclaration {
        MetricDeclaration { kind: MetricKind::Level, ..MetricDeclaration::counter(name, unit) }
    }

    /// The same, of the whole machine.
    pub fn of_the_machine(mut self) -> MetricDeclaration {
        self.scope = Scope::Machine;
        self
    }

    /// The same, of the measurement itself.
    pub fn of_the_measurement(mut self) -> MetricDeclaration {
        self.scope = Scope::Measurement;
        self
    }

    /// The same, shown in tables.
    pub fn shown_as(mut self, label: impl Into<Cow<'static, str>>, higher_is: HigherIs) -> MetricDeclaration {
        self.figure = Some(FigureDeclaration { label: label.into(), higher_is, primary: false });
        self
    }

    /// The same, shown in short tables, too.
    pub fn primary(mut self) -> MetricDeclaration {
        self.figure = self.figure.map(|figure| FigureDeclaration { primary: true, ..figure });
        self
    }
}
