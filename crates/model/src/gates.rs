//! The gates of a slice: what must hold for its figures to be the service's and not the generator's or the machine's. Here is what they
//! are, where their bounds lie and how a slice failed them; judging a slice is the run's.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Observations;
use crate::load::Load;
use crate::metrics::{MACHINE_TASKS, MOST_STOLEN};

/// Least share of the due requests that must have been sent in time.
pub const SENT_SHARE: f64 = 0.999;
/// Largest 99th percentile of the send lag, unless the service is so slow that a larger one hardly shows in its response time.
///
/// Undisturbed slices on a virtual CPU were seen at 30 to 60 µs: writing one request delays the next of a Poisson burst.
pub const SEND_LAG_P99: Duration = Duration::from_micros(100);
/// The send lag may be this part of the service time, 99th percentile by 99th percentile: a hypervisor that stops a CPU for
/// milliseconds makes requests and responses late alike, a generator that can't keep up is late alone.
pub const SEND_LAG_PART: f64 = 0.25;
/// Largest share of their time that the load threads of a closed loop may be busy: beyond it they are the bottleneck.
pub const LOAD_BUSY_SHARE: f64 = 0.95;
/// Largest share of their time for which the load threads may be ready to run without running, for other programs have their CPUs.
pub const LOAD_WAIT_SHARE: f64 = 0.10;
/// Largest share of failed requests.
pub const ERROR_SHARE: f64 = 0.001;
/// Share of its CPU time that an open loop's load threads may work, waiting awake left out, before the lateness of requests is their own doing:
/// at 80 % of a server's capacity work waits twice as long as it takes (M/D/1 queue).
pub const LOAD_WORK_SHARE: f64 = 0.80;
/// Longest time per second for which a load CPU may have been paused, in pauses of 1 ms and more: a hundredth of the requests, those that a
/// 99th percentile is made of.
pub const PAUSED_PER_SECOND: Duration = Duration::from_millis(10);
/// A slice may have pauses of this length in all however short it is: most of them are single ones of 1 to 2 ms, which every cell meets alike,
/// and a block that is measured again costs more than they do.
pub const PAUSED_LEAST: Duration = Duration::from_millis(2);
/// Largest share of the time of any one CPU that a hypervisor may have taken away: 20 ms a second.
pub const STEAL_SHARE: f64 = 0.02;
/// Largest share of the machine's CPU time that other programs may have used.
pub const FOREIGN_SHARE: f64 = 0.10;

/// Which gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The asked rate was achieved: connections were free when requests were due.
    Rate,
    /// Requests left when they were due.
    SendLag,
    /// The load's CPUs ran its threads when they were due.
    Pauses,
    /// The load threads had time to spare.
    Generator,
    /// Requests succeeded.
    Errors,
    /// The hypervisor left the CPUs to us.
    Steal,
    /// Other programs left the CPUs to us.
    ForeignCpu,
    /// The cells were stationary when their warm-ups ended. A gate of the run, of no slice.
    Stationary,
}

impl Gate {
    /// The gates that a slice may fail, in the order in which they are shown.
    pub const OF_A_SLICE: [Gate; 7] = [
        Gate::Rate,
        Gate::SendLag,
        Gate::Pauses,
        Gate::Generator,
        Gate::Errors,
        Gate::Steal,
        Gate::ForeignCpu,
    ];

    /// Whether it tells of a disturbance of the machine, which a repeat may be free of. These gates alone decide about a repeat, and none of
    /// them looks at a response: else the better attempts of a service would be left, and its tail selected by itself.
    pub fn is_disturbance(self) -> bool {
        matches!(self, Gate::Pauses | Gate::Steal | Gate::ForeignCpu)
    }

    /// The likely cause when it fails; `None` where the figure says it.
    pub fn suspect(self) -> Option<Suspect> {
        match self {
            Gate::SendLag | Gate::Pauses | Gate::Generator | Gate::Steal | Gate::ForeignCpu => {
                Some(Suspect::Generator)
            }
            Gate::Rate => Some(Suspect::Service),
            Gate::Errors | Gate::Stationary => None,
        }
    }

    /// The name under which it is kept.
    pub fn name(self) -> &'static str {
        match self {
            Gate::Rate => "rate",
            Gate::SendLag => "send_lag",
            Gate::Pauses => "pauses",
            Gate::Generator => "generator",
            Gate::Errors => "errors",
            Gate::Steal => "steal",
            Gate::ForeignCpu => "foreign_cpu",
            Gate::Stationary => "stationary",
        }
    }
}

/// The likely cause of a failed gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspect {
    /// The generator sent another load than it was asked for, or not enough of it.
    Generator,
    /// The service did not carry the load.
    Service,
}

/// How a slice failed a gate: the figure and its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GateFailure {
    /// Too few of the due requests were sent in time.
    NotSent {
        /// [`Gate::Rate`] where requests waited for a connection and so for the service, else [`Gate::SendLag`].
        gate: Gate,
        /// Share of the due requests that were sent in time.
        share: f64,
        /// The least that must have been.
        least: f64,
        /// What was asked for.
        asked: Load,
    },
    /// Requests were written late.
    Late(Late),
    /// The load's CPUs did not run its threads when they were due, in pauses of 1 ms and more.
    Paused {
        /// For so long in a second of a load thread, ms.
        ms_per_second: f64,
        /// The most that may be, ms.
        most: f64,
    },
    /// The load threads of a closed loop were busy almost all the time.
    LoadBusy {
        /// Share of their time.
        share: f64,
        /// The most that may be.
        most: f64,
    },
    /// The load threads of a closed loop were busy or ready to run almost all the time: with CPUs of their own they would have been busy.
    LoadSaturated {
        /// Share of their time for which they ran.
        busy_share: f64,
        /// Share of their time for which they were ready to run and did not.
        waiting_share: f64,
        /// The most that both together may be.
        most: f64,
    },
    /// The load threads were ready to run and did not: others had their CPUs.
    LoadWaited {
        /// Share of their time.
        share: f64,
        /// The most that may be.
        most: f64,
    },
    /// Requests failed.
    Failed {
        /// How many.
        failed: u64,
        /// Of how many that were due.
        due: u64,
        /// By kind.
        kinds: BTreeMap<String, u64>,
    },
    /// The hypervisor took CPU time away.
    Stolen {
        /// Share of the time of the CPU that lost most; of all CPUs where that is not known.
        share: f64,
        /// The most that may be.
        most: f64,
    },
    /// Other programs used the CPUs.
    Foreign {
        /// Share of the machine's CPU time.
        share: f64,
        /// The most that may be.
        most: f64,
    },
    /// Others ran on the services' CPUs, for longer than they usually do there.
    Taken {
        /// For so long in a second, ms.
        ms_per_second: f64,
        /// The most that may be: what is usual in this cell, twice, and what a pause may take.
        most: f64,
    },
    /// As a store from before the figures were kept says it.
    Text {
        /// Which gate.
        gate: Gate,
        /// The figure and its bound, in a sentence.
        text: String,
    },
}

impl GateFailure {
    /// The same with the kinds of its failed requests named like this, if it is about those.
    #[must_use]
    pub fn with_kinds(self, named: &BTreeMap<String, u64>) -> GateFailure {
        match self {
            GateFailure::Failed { failed, due, .. } => {
                GateFailure::Failed { failed, due, kinds: named.clone() }
            }
            other => other,
        }
    }

    /// The gate that was failed.
    pub fn gate(&self) -> Gate {
        match self {
            GateFailure::NotSent { gate, .. } | GateFailure::Text { gate, .. } => *gate,
            GateFailure::Late(_) => Gate::SendLag,
            GateFailure::Paused { .. } => Gate::Pauses,
            GateFailure::LoadBusy { .. } | GateFailure::LoadSaturated { .. } => Gate::Generator,
            GateFailure::Failed { .. } => Gate::Errors,
            GateFailure::Stolen { .. } => Gate::Steal,
            GateFailure::Foreign { .. } | GateFailure::Taken { .. } | GateFailure::LoadWaited { .. } => {
                Gate::ForeignCpu
            }
        }
    }
}

/// Whether the machine disturbed a slice that failed these gates, whatever its service did meanwhile.
pub fn is_disturbed(failures: &[GateFailure]) -> bool {
    failures.iter().any(|failure| failure.gate().is_disturbance())
}

/// A send lag beyond its bound, both as 99th percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// The send lag, µs.
    pub p99_us: f64,
    /// What it may be, µs.
    pub bound_us: f64,
}

/// The send lag and its bound, if it is beyond it. Of one slice, or merged over many.
pub fn late(send_lag: &Histogram<u64>, service: &Histogram<u64>) -> Option<Late> {
    let of = |times: &Histogram<u64>| times.value_at_quantile(0.99) as f64 / 1e3;
    let p99_us = of(send_lag);
    let bound_us = (SEND_LAG_PART * of(service)).max(SEND_LAG_P99.as_secs_f64() * 1e6);
    (p99_us > bound_us).then_some(Late { p99_us, bound_us })
}

/// CPU time of one slice, ns. It is read when the last response is back, but of a slice on the load's machine no later than a moment after the
/// last request was due, so that it is not the longer for a late response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUse {
    /// All CPUs together, idle included.
    pub capacity_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// Taken by the hypervisor from the CPU that lost most; older runs don't know it.
    #[serde(default)]
    pub most_stolen: Option<OfOneCpu>,
    /// By programs that are neither loadline nor a service of this run; `None` when a service can't be told from them. The kernel
    /// tells CPU time in steps, so that in a short slice this may be negative.
    pub foreign_ns: Option<i64>,
}

/// A part of one CPU's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfOneCpu {
    /// The part, ns.
    pub part_ns: u64,
    /// The whole, idle included, ns.
    pub whole_ns: u64,
}

impl CpuUse {
    /// Whether a hypervisor took time from a slice, as far as the kernel tells: it counts in steps of 10 ms (proc_stat(5)), each CPU for itself
    /// and all together. A short slice with a step in it has seldom lost all of that, but mostly lost a few milliseconds at once.
    pub fn lost_time(&self) -> bool {
        let of_all = self.steal_ns as f64 / self.capacity_ns.max(1) as f64;
        self.stolen_share().max(of_all) > STEAL_SHARE
    }

    /// The share that a hypervisor took of the CPU that lost most, or of all of them where it is not known by CPU.
    pub fn stolen_share(&self) -> f64 {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        match self.most_stolen {
            Some(OfOneCpu { part_ns, whole_ns }) => share(part_ns, whole_ns),
            None => share(self.steal_ns, self.capacity_ns),
        }
    }

    /// What a hypervisor and other programs took of a machine while it was observed; `None` when the machine could not be read. `ours`:
    /// the CPU time that services and load of the run used there; `None` when one of the two can't be told.
    ///
    /// The process that reads the counters usually drives the load as well: the larger of the two CPU times is loadline's.
    ///
    /// What others used is the time of all tasks without these. Where that is not known it is all time but idle time, with interrupts and
    /// with waking CPUs up, which load and services cause as well. The kernel measures idle time; busy time is sampled at its ticks and would
    /// miss whatever begins with one (Documentation/admin-guide/cpu-load.rst).
    pub fn of(machine: &Observations, ours: Option<(u64, u64)>) -> Option<CpuUse> {
        let whole_ns = machine.wall_ns()?;
        let capacity_ns = whole_ns * u64::from(machine.machine_cpus()?);
        let modes = machine.machine_cpu()?;
        let not_used_ns = modes.idle_ns + modes.iowait_ns + modes.steal_ns;
        let used_ns = match machine.count(MACHINE_TASKS) {
            Some(tasks_ns) => tasks_ns as i64,
            None => capacity_ns as i64 - not_used_ns as i64,
        };
        let foreign_ns = ours.map(|(services_ns, load_ns)| {
            let own_ns = load_ns.max(machine.observer_cpu_ns().unwrap_or(0));
            used_ns - (services_ns + own_ns) as i64
        });
        Some(CpuUse {
            capacity_ns,
            steal_ns: modes.steal_ns,
            most_stolen: machine.count(MOST_STOLEN).map(|part_ns| OfOneCpu { part_ns, whole_ns }),
            foreign_ns,
        })
    }
}
