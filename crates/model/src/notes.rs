//! What a reader of a run's figures must know: a variant for each thing that is told, with its figures.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gates::Gate;
use crate::platform::Limits;

/// Something that a reader must know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// This user may lay no wire, so the client is on the node itself.
    NoWire,
    /// The time for measuring was over before the run would have ended.
    TimeOver {
        /// Deployments until then.
        deployments: u32,
        /// The time, as asked for.
        within: Duration,
    },
    /// Load and service share a CPU, because there is no other.
    SharedCpu,
    /// The service is not pinned, and may run on the CPUs of the load too.
    ServiceSeesAll {
        /// Whether the load runs before it there.
        load_runs_first: bool,
    },
    /// The kernel charges the time of interrupts to no process.
    InterruptTimeApart,
    /// WireGuard encrypts in threads of the kernel.
    WireguardThreads,
    /// A node port or published port makes the node track all connections.
    ConnectionsTracked,
    /// An external service is not started anew.
    ExternalService,
    /// Cells run side by side, request by request.
    SideBySide {
        /// How many.
        cells: usize,
        /// Requests of a slice below which that is chosen; `None`: it was asked for.
        fewer_than: Option<f64>,
        /// How busy those of one load together keep one CPU, at most; 1 is all the time.
        busy_share: f64,
    },
    /// A service that isn't a process of this machine can't be profiled.
    ServiceNotHere,
    /// When a service that isn't on this machine was held up can't be seen.
    TailsNotSeen,
    /// Nothing was profiled.
    NotProfiled {
        /// What the kernel or its symbols refused.
        reason: String,
    },
    /// Why soft interrupts are raised was not seen.
    SoftirqsNotSeen {
        /// What the kernel refused.
        reason: String,
    },
    /// The profiler saw a time in which a gate of the machine failed.
    ProfileDisturbed {
        /// Which.
        gate: Gate,
    },
    /// One deployment says nothing of how one start differs from the next.
    OneDeployment,
    /// The two sides of a comparison may not use the same CPUs or memory.
    UnequalResources {
        /// What is compared.
        candidate: String,
        /// What it may use.
        candidate_has: Resources,
        /// What it is compared with.
        baseline: String,
        /// What that may use.
        baseline_has: Resources,
    },
    /// Services were measured without a warm-up, as the plan asked for.
    Cold,
    /// JVMs still compiled their services while these were measured, so that they were not yet as fast as they get.
    StillCompiling {
        /// Service and platform of each, with the compiler's share of the service's CPU time.
        sites: Vec<(String, f64)>,
    },
    /// This user may create no cgroups, and asked to measure without the limits that these platforms were to have.
    WithoutLimits {
        /// Their names.
        platforms: Vec<String>,
    },
    /// Two stored runs are compared, which took no turns.
    NotInterleaved {
        /// The one that is compared with.
        before: String,
        /// The other one.
        after: String,
        /// What else differs between them.
        changes: Vec<Change>,
    },
    /// What a platform could not do, or which rungs of a ladder can't be had here, in a sentence of its own.
    LeftOut {
        /// The sentence.
        text: String,
    },
    /// As a store from before notes were typed says it.
    Text {
        /// The sentence.
        text: String,
    },
}

/// Something that was not the same in two runs, each as text; empty where it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What.
    pub what: Circumstance,
    /// In the one that is compared with.
    pub before: String,
    /// In the other one.
    pub after: String,
}

/// Under what a run was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circumstance {
    /// The machine, by its host name.
    Machine,
    /// Its model of CPU.
    CpuModel,
    /// Its CPUs that are online.
    Cpus,
    /// The version of its kernel.
    Kernel,
    /// How its frequency is governed.
    Governor,
    /// The CPUs of the load.
    LoadCpus,
    /// Whether services were warmed up.
    WarmUp,
    /// The limits of a service.
    Limits,
    /// The version of loadline.
    Version,
    /// A daemon or cluster: its versions, drivers and modes.
    Daemon,
    /// The version of a language runtime.
    Runtime,
}

/// What a service may use on a platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Its limits.
    pub limits: Limits,
    /// The CPUs that it is pinned to; `None`: it sees all of them.
    pub cpus: Option<Vec<usize>>,
}

/// What went wrong, with a site or with the run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Whose it is; `None`: the run's, or not known of an older one.
    pub site: Option<crate::SiteId>,
    /// The whole error, in words.
    pub text: String,
}
