//! What would make measurements on a machine sharper, typed; `report` words it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Program;
use crate::result::Statement;

/// Something found, what to do about it, and why that helps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What it is about.
    pub topic: Topic,
    /// What was seen.
    pub seen: Statement<Finding>,
    /// What to do.
    pub change: Statement<Change>,
    /// Why.
    pub why: Statement<Why>,
}

impl Advice {
    /// The advice for a finding.
    pub fn of(finding: Finding) -> Advice {
        Advice {
            topic: finding.topic(),
            seen: Statement::of(finding.clone()),
            change: Statement::of(Change(finding.clone())),
            why: Statement::of(Why(finding)),
        }
    }
}

/// What an advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// There is a single CPU.
    SingleCpu,
    /// Service and load share a core.
    SharedCore,
    /// The hypervisor takes CPU time.
    StolenTime,
    /// Other programs use the CPUs.
    OtherPrograms,
    /// What shares a core with service or load is busy.
    BusySibling,
    /// CPUs stop for long.
    Pauses,
    /// The frequency governor.
    Governor,
    /// Deep idle states.
    IdleStates,
    /// Slow wake-ups where no idle states are shown.
    WakeUps,
    /// The clock source.
    Clock,
    /// Turbo frequencies.
    Turbo,
}

/// Something about a machine that makes measurements less sharp, with its figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Load and service share the only CPU.
    SingleCpu,
    /// Load and service are on two hardware threads of one core.
    SharedCore {
        /// Of the load.
        load_cpu: usize,
        /// Of the service.
        service_cpu: usize,
    },
    /// The hypervisor took CPU time.
    StolenTime {
        /// The largest share that was seen.
        share: f64,
    },
    /// Other programs used the CPUs.
    OtherPrograms {
        /// Share of all CPUs' time.
        share: f64,
        /// Those that used the most.
        top: Vec<Program>,
    },
    /// What shares a core with service or load was busy while loadline did nothing.
    BusySibling {
        /// The service's or the load's.
        cpu: usize,
        /// The other one.
        sibling: usize,
        /// Share of its time.
        share: f64,
    },
    /// A CPU lost time in long pauses.
    Pauses {
        /// The CPU that lost the most.
        cpu: usize,
        /// Pauses of 1 ms and more, a minute.
        per_minute: f64,
        /// Time lost in them, share of all.
        lost_share: f64,
        /// The longest.
        longest_ns: u64,
        /// Whether most of it went to other programs, rather than to interrupts and the hypervisor; `None` if the kernel does not say.
        to_programs: Option<bool>,
    },
    /// Frequencies follow the load.
    Governor {
        /// Its name.
        governor: String,
        /// The CPUs that have it.
        cpus: Vec<usize>,
        /// What sets the frequency.
        driver: Option<String>,
    },
    /// Idle CPUs may sleep deeply.
    IdleStates {
        /// The deepest state that is on.
        deepest: String,
        /// How long waking up takes at most.
        exit_latency_ns: u64,
        /// The longest that measurements should wait.
        most_ns: u64,
    },
    /// Waking up takes long, and no idle state is shown that explains it.
    WakeUps {
        /// Median of waking up a thread on another CPU.
        p50_ns: u64,
    },
    /// Reading the clock is slow.
    Clock {
        /// What the kernel tells the time by.
        source: String,
        /// One reading.
        read_ns: f64,
        /// Whether it could use the CPU's own counter.
        tsc_available: bool,
    },
    /// Frequencies rise while heat allows.
    Turbo,
}

impl Finding {
    /// What it is about.
    pub fn topic(&self) -> Topic {
        match self {
            Finding::SingleCpu => Topic::SingleCpu,
            Finding::SharedCore { .. } => Topic::SharedCore,
            Finding::StolenTime { .. } => Topic::StolenTime,
            Finding::OtherPrograms { .. } => Topic::OtherPrograms,
            Finding::BusySibling { .. } => Topic::BusySibling,
            Finding::Pauses { .. } => Topic::Pauses,
            Finding::Governor { .. } => Topic::Governor,
            Finding::IdleStates { .. } => Topic::IdleStates,
            Finding::WakeUps { .. } => Topic::WakeUps,
            Finding::Clock { .. } => Topic::Clock,
            Finding::Turbo => Topic::Turbo,
        }
    }
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Change(pub Finding);

/// Why that helps.
#[derive(Clone, Debug, PartialEq)]
pub struct Why(pub Finding);

/// What could not be measured or seen.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftOut {
    /// The kernel shows no frequency driver.
    Frequency {
        /// Whether this is a virtual machine.
        virtual_machine: bool,
    },
    /// The kernel shows no idle states.
    IdleStates {
        /// Whether this is a virtual machine.
        virtual_machine: bool,
    },
    /// A service could not be compared with itself.
    Noise {
        /// Why.
        why: String,
    },
    /// Too few deployments for an estimate.
    FewDeployments {
        /// How many there were.
        deployments: usize,
    },
    /// Service and load ran without a wire between them.
    Wire {
        /// Why.
        why: String,
    },
}
