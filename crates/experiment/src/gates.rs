//! The gates of a slice: what must hold for its figures to be the service's and not the generator's or the machine's.

use std::time::Duration;

use hdrhistogram::Histogram;
use loadline_engine::{Load, Record};
use loadline_observe::Observations;
use serde::{Deserialize, Serialize};

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
/// Largest share of failed requests.
pub const ERROR_SHARE: f64 = 0.001;
/// Largest share of the machine's CPU time that a hypervisor may have taken away.
pub const STEAL_SHARE: f64 = 0.02;
/// Largest share of the machine's CPU time that other programs may have used.
pub const FOREIGN_SHARE: f64 = 0.10;

/// The kernel tells idle time in hundredths of a second (`USER_HZ`, proc_stat(5)): so much of each CPU may be rounding.
const IDLE_GRAIN: Duration = Duration::from_millis(10);

/// Which gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The asked rate was achieved: connections were free when requests were due.
    Rate,
    /// Requests left when they were due.
    SendLag,
    /// The load threads had time to spare.
    Generator,
    /// Requests succeeded.
    Errors,
    /// The hypervisor left the CPUs to us.
    Steal,
    /// Other programs left the CPUs to us.
    ForeignCpu,
}

impl Gate {
    /// All gates, in the order in which they are shown.
    pub const ALL: [Gate; 6] =
        [Gate::Rate, Gate::SendLag, Gate::Generator, Gate::Errors, Gate::Steal, Gate::ForeignCpu];

    /// Whether it tells of a disturbance from outside, which a repeat may be free of. What the service itself did is not
    /// repeated: only its better attempts would be left.
    pub fn is_disturbance(self) -> bool {
        matches!(self, Gate::SendLag | Gate::Steal | Gate::ForeignCpu)
    }

    /// The name under which it is kept.
    pub fn name(self) -> &'static str {
        match self {
            Gate::Rate => "rate",
            Gate::SendLag => "send_lag",
            Gate::Generator => "generator",
            Gate::Errors => "errors",
            Gate::Steal => "steal",
            Gate::ForeignCpu => "foreign_cpu",
        }
    }

    /// What to do when it fails.
    pub fn remedy(self) -> &'static str {
        match self {
            Gate::Rate => "the service can't carry this rate: ask for less, or open more connections",
            Gate::Generator => {
                "the load threads were the bottleneck: give them more CPUs (--load-cpus), or ask for a fixed rate"
            }
            Gate::SendLag => {
                "the generator was late: give the load a CPU of its own (--load-cpus), or ask for a lower rate"
            }
            Gate::Errors => "requests failed: look at the service's output and at the requests",
            Gate::Steal => {
                "the hypervisor took CPU time away: measure on a quieter or dedicated machine, or in shorter slices (--slice), of which it may spare some"
            }
            Gate::ForeignCpu => {
                "other programs used the CPUs: stop them, or measure on another machine, or in shorter slices (--slice), of which they may spare some"
            }
        }
    }
}

/// A gate that did not hold for a slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFailure {
    /// Which.
    pub gate: Gate,
    /// The figure and its bound, in a sentence.
    pub text: String,
}

/// Whether a slice is to be measured again: it was disturbed from outside, and by nothing that is the service's own.
pub fn deserve_repeat(failures: &[GateFailure]) -> bool {
    !failures.is_empty() && failures.iter().all(|failure| failure.gate.is_disturbance())
}

/// CPU time of one slice, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUse {
    /// All CPUs together, idle included.
    pub capacity_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// By programs that are neither loadline nor a service of this run; `None` when a service can't be told from them. The kernel
    /// tells idle time in steps, so that of a short slice it may be negative.
    pub foreign_ns: Option<i64>,
}

impl CpuUse {
    /// What is left of the machine's time when idling, the load and the services are taken off. `None` when the machine can't be
    /// read. `services_ns`: `None` when one of them is external and may run here as well.
    ///
    /// Whoever reads the counters of a slice drives its load, too, unless that is done elsewhere: the larger of the two is loadline's.
    ///
    /// Idle time is measured by the kernel; busy time is sampled at its ticks and would miss whatever begins with one
    /// (Documentation/admin-guide/cpu-load.rst). So what others used is what is left over, interrupts included.
    pub fn of(machine: &Observations, services_ns: Option<u64>, load_ns: u64, cpus: usize) -> Option<CpuUse> {
        let capacity_ns = machine.wall_ns? * cpus as u64;
        let modes = machine.machine?;
        let own_ns = load_ns.max(machine.observer_cpu_ns.unwrap_or(0));
        let not_foreign =
            services_ns.map(|ns| ns + own_ns + modes.idle_ns + modes.iowait_ns + modes.steal_ns);
        Some(CpuUse {
            capacity_ns,
            steal_ns: modes.steal_ns,
            foreign_ns: not_foreign.map(|ns| capacity_ns as i64 - ns as i64),
        })
    }
}

/// The send lag and its bound in a sentence, if it is beyond it. Of one slice, or merged over many.
pub fn late(send_lag: &Histogram<u64>, service: &Histogram<u64>) -> Option<String> {
    let p99_us = |times: &Histogram<u64>| times.value_at_quantile(0.99) as f64 / 1e3;
    let lag_us = p99_us(send_lag);
    let bound_us = (SEND_LAG_PART * p99_us(service)).max(SEND_LAG_P99.as_secs_f64() * 1e6);
    (lag_us > bound_us).then(|| format!("send lag p99 {lag_us:.0} µs, more than {bound_us:.0} µs"))
}

/// The gates that a slice fails.
pub fn failures(load: &Load, record: &Record, cpu: Option<CpuUse>) -> Vec<GateFailure> {
    let mut failures = Vec::new();
    let mut fail = |gate, text| failures.push(GateFailure { gate, text });
    match load {
        Load::Open { .. } | Load::Profile { .. } | Load::Replay(_) => {
            if record.sent_share() < SENT_SHARE {
                // Requests that found no connection free waited for the service; the others for the generator.
                let gate = if record.waited >= record.due - record.sent_in_time {
                    Gate::Rate
                } else {
                    Gate::SendLag
                };
                let (sent, least) = (record.sent_share() * 100.0, SENT_SHARE * 100.0);
                let asked = load.rate().map_or_else(|| load.to_string(), |rate| rate.to_string());
                fail(gate, format!("{sent:.1} % of {asked} was sent in time, less than {least:.1} %"));
            }
            if let Some(text) = late(&record.send_lag, &record.service) {
                fail(Gate::SendLag, text);
            }
        }
        Load::Closed { .. } => {
            let busy = record.cpu_ns as f64 / (record.duration.as_nanos() as f64 * f64::from(record.workers));
            if busy > LOAD_BUSY_SHARE {
                fail(
                    Gate::Generator,
                    format!(
                        "load threads {:.0} % busy, more than {:.0} %",
                        busy * 100.0,
                        LOAD_BUSY_SHARE * 100.0
                    ),
                );
            }
        }
    }
    let errors = record.errors.total() + record.unsolicited;
    if errors as f64 > ERROR_SHARE * record.due as f64 || (record.due > 0 && record.answered == 0) {
        let kinds: Vec<String> =
            record.errors.by_name().iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        fail(Gate::Errors, format!("{errors} of {} requests failed: {}", record.due, kinds.join(", ")));
    }
    failures.extend(cpu.into_iter().flat_map(|cpu| machine_failures(cpu, record.duration)));
    failures
}

/// The gates of the machine that a time fails: how much of its CPUs the hypervisor and other programs took.
pub fn machine_failures(cpu: CpuUse, duration: Duration) -> Vec<GateFailure> {
    let mut failures = Vec::new();
    let mut hold = |gate, what: &str, ns: f64, most: f64| {
        let (percent, most) = (ns / cpu.capacity_ns.max(1) as f64 * 100.0, most * 100.0);
        if percent > most {
            failures
                .push(GateFailure { gate, text: format!("{what} {percent:.1} %, more than {most:.0} %") });
        }
    };
    hold(Gate::Steal, "stolen CPU", cpu.steal_ns as f64, STEAL_SHARE);
    let grain = IDLE_GRAIN.as_secs_f64() / duration.as_secs_f64();
    let foreign_ns = cpu.foreign_ns.map_or(0.0, |ns| ns as f64);
    hold(Gate::ForeignCpu, "other programs", foreign_ns, FOREIGN_SHARE + grain);
    failures
}
