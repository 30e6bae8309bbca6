//! The metrics: what is computed from slices, in the order in which tables show them.

use hdrhistogram::Histogram;
use loadline_model::rows::SliceRow;

use crate::result::{Unit, Verdict};

/// One metric.
pub struct Metric {
    /// Id, `response.p50`.
    pub id: &'static str,
    /// Label, `response p50`.
    pub label: &'static str,
    /// Unit of its figures.
    pub unit: Unit,
    /// Words of its verdicts.
    pub sense: Sense,
    /// How it is computed.
    pub kind: Kind,
}

/// What a reader looks at first; a short table shows these alone.
const PRIMARY: [&str; 10] = [
    "response.p50",
    "response.p99",
    "response.p99.9",
    "response.mean",
    "service.p50",
    "cpu.service",
    "softirqs",
    "switches",
    "rate.achieved",
    "errors",
];

impl Metric {
    /// Whether a short table shows it.
    pub fn is_primary(&self) -> bool {
        PRIMARY.contains(&self.id)
    }
}

/// What "higher" means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// A time: slower or faster.
    Time,
    /// CPU or memory: costlier or cheaper.
    Cost,
    /// A count: more or fewer.
    Count,
}

impl Sense {
    /// The verdict for a figure that is higher (or lower) than the baseline's.
    pub fn verdict(self, higher: bool) -> Verdict {
        match (self, higher) {
            (Sense::Time, true) => Verdict::Slower,
            (Sense::Time, false) => Verdict::Faster,
            (Sense::Cost, true) => Verdict::Costlier,
            (Sense::Cost, false) => Verdict::Cheaper,
            (Sense::Count, true) => Verdict::More,
            (Sense::Count, false) => Verdict::Fewer,
        }
    }
}

/// How a metric is computed from any number of slices.
pub enum Kind {
    /// A quantile of the merged histograms.
    Quantile(Times, f64),
    /// A sum over the slices divided by another: a mean time, a cost per request, a rate.
    Ratio(fn(&SliceRow) -> Option<(f64, f64)>),
    /// The mean of the slices' own ratios up to their median. Whatever disturbs a slice of a closed loop only adds to it, so this differs
    /// between deployments by a quarter less than the mean of all or of the middle half (ten rungs, 8 deployments × 14 slices of 100 ms on
    /// a shared virtual machine: standard deviation 0.44 µs against 0.64 and 0.60).
    Undisturbed(fn(&SliceRow) -> Option<(f64, f64)>),
}

/// Which histogram.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Response time.
    Response,
    /// Service time.
    Service,
    /// Send lag.
    SendLag,
}

impl Times {
    /// The histogram of a slice.
    pub fn of(self, slice: &SliceRow) -> &Histogram<u64> {
        match self {
            Times::Response => &slice.response,
            Times::Service => &slice.service,
            Times::SendLag => &slice.send_lag,
        }
    }
}

/// All metrics.
pub const METRICS: &[Metric] = &[
    quantile("response.p50", "response p50", Times::Response, 0.5),
    quantile("response.p90", "response p90", Times::Response, 0.9),
    quantile("response.p99", "response p99", Times::Response, 0.99),
    quantile("response.p99.9", "response p99.9", Times::Response, 0.999),
    time("response.mean", "response mean", |s| mean(&s.response)),
    quantile("service.p50", "service p50", Times::Service, 0.5),
    quantile("service.p99", "service p99", Times::Service, 0.99),
    time("service.mean", "service mean", |s| mean(&s.service)),
    quantile("send_lag.p99", "send lag p99", Times::SendLag, 0.99),
    cost("cpu.service", "CPU per request", |s| per_request(s, s.observations.service_cpu_ns)),
    cost("cpu.service.user", "  user", |s| per_request(s, s.observations.service_user_ns)),
    cost("cpu.service.system", "  system", |s| per_request(s, s.observations.service_system_ns)),
    cost("cpu.machine", "machine's CPU per request", |s| per_request(s, s.observations.machine_busy_ns)),
    cost("cpu.load", "load's CPU per request", |s| per_request(s, Some(s.load_cpu_ns))),
    Metric {
        id: "cpu.path",
        label: "CPU per request, both ends",
        unit: Unit::Nanoseconds,
        sense: Sense::Cost,
        // Packets to the service are carried by whoever sends them, packets from it by the service; waiting awake is neither. A kernel with
        // CONFIG_IRQ_TIME_ACCOUNTING charges soft interrupts to nobody: there it is less than the whole, which a note says.
        kind: Kind::Undisturbed(|s| {
            per_request(
                s,
                Some(s.observations.service_cpu_ns? + s.load_cpu_ns.saturating_sub(s.load_spun_ns?)),
            )
        }),
    },
    time("cpu.run_queue_wait", "run-queue wait per request", |s| {
        per_request(s, s.observations.run_queue_wait_ns)
    }),
    time("cpu.throttled", "throttled per request", |s| per_request(s, s.observations.throttled_ns)),
    count("softirqs", "softirqs per request", |s| {
        per_request(s, Some(s.observations.net_rx_softirqs? + s.observations.net_tx_softirqs?))
    }),
    count("softirqs.net_rx", "  NET_RX", |s| per_request(s, s.observations.net_rx_softirqs)),
    count("softirqs.net_tx", "  NET_TX", |s| per_request(s, s.observations.net_tx_softirqs)),
    count("switches", "context switches", |s| {
        per_request(s, Some(s.observations.voluntary_switches? + s.observations.involuntary_switches?))
    }),
    count("switches.voluntary", "  voluntary", |s| per_request(s, s.observations.voluntary_switches)),
    count("switches.involuntary", "  involuntary", |s| per_request(s, s.observations.involuntary_switches)),
    count("tcp.retransmits", "TCP retransmits", |s| per_request(s, s.observations.tcp_retransmits)),
    memory("memory.resident", "resident memory", |s| Some((s.observations.memory_bytes? as f64, 1.0))),
    memory("memory.peak", "resident memory, peak", |s| Some((s.observations.memory_peak_bytes? as f64, 1.0))),
    Metric {
        id: "rate.achieved",
        label: "achieved rate",
        unit: Unit::PerSecond,
        sense: Sense::Count,
        kind: Kind::Ratio(|s| Some((s.answered_in_time as f64, s.duration_s))),
    },
    count("errors", "errors per request", |s| Some((s.errors.values().sum::<u64>() as f64, s.due as f64))),
];

const fn quantile(id: &'static str, label: &'static str, times: Times, quantile: f64) -> Metric {
    Metric { id, label, unit: Unit::Nanoseconds, sense: Sense::Time, kind: Kind::Quantile(times, quantile) }
}

const fn time(id: &'static str, label: &'static str, ratio: fn(&SliceRow) -> Option<(f64, f64)>) -> Metric {
    Metric { id, label, unit: Unit::Nanoseconds, sense: Sense::Time, kind: Kind::Ratio(ratio) }
}

const fn cost(id: &'static str, label: &'static str, ratio: fn(&SliceRow) -> Option<(f64, f64)>) -> Metric {
    Metric { id, label, unit: Unit::Nanoseconds, sense: Sense::Cost, kind: Kind::Ratio(ratio) }
}

const fn count(id: &'static str, label: &'static str, ratio: fn(&SliceRow) -> Option<(f64, f64)>) -> Metric {
    Metric { id, label, unit: Unit::Count, sense: Sense::Count, kind: Kind::Ratio(ratio) }
}

const fn memory(id: &'static str, label: &'static str, ratio: fn(&SliceRow) -> Option<(f64, f64)>) -> Metric {
    Metric { id, label, unit: Unit::Bytes, sense: Sense::Cost, kind: Kind::Ratio(ratio) }
}

fn per_request(slice: &SliceRow, total: Option<u64>) -> Option<(f64, f64)> {
    (slice.answered > 0).then_some((total? as f64, slice.answered as f64))
}

/// Sum and number of the recorded times; each at the middle of its bucket, 0.05 % off at most.
fn mean(histogram: &Histogram<u64>) -> Option<(f64, f64)> {
    let count = histogram.len() as f64;
    (count > 0.0).then(|| (histogram.mean() * count, count))
}
