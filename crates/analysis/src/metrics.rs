//! The metrics: what is computed from slices, in the order in which tables show them. Times, rates and errors are the load's own; what
//! probes read comes from their declarations, which the run stores; [`COMBINED`] holds what is made of several. What is seen once a deployment
//! follows them.

use std::borrow::Cow;

use loadline_model::SparseHistogram;
use loadline_model::metrics::{
    FigureDeclaration, HigherIs, MetricDeclaration, MetricKind, MetricName, SERVICE_CPU,
};
use loadline_model::rows::{RunRow, SliceRow};

use crate::RunData;
use crate::buckets::quantile_of;
use crate::of_deployments::{OfDeployments, seen};
use crate::result::{Unit, Verdict};
use crate::scale::Scale;
use crate::times::Times;

/// One metric.
pub struct Metric {
    /// Id, `response.p50`.
    pub id: MetricName,
    /// Label, `response p50`.
    pub label: Cow<'static, str>,
    /// Unit of its figures.
    pub unit: Unit,
    /// Words of its verdicts.
    pub higher_is: HigherIs,
    /// Whether a short table shows it: what a reader looks at first.
    pub is_primary: bool,
    /// How it is computed.
    pub kind: Kind,
}

/// How a metric is computed from any number of slices.
pub enum Kind {
    /// A quantile of the merged histograms.
    Quantile(Times, f64),
    /// The mean of all requests.
    Mean(Times),
    /// A sum over the slices divided by another: a cost per request, a rate.
    Ratio(fn(&SliceRow) -> Option<Ratio>),
    /// What a probe counted, per answered request.
    PerRequest,
    /// What a probe found at the end of each slice: the mean.
    Level,
    /// The middle half of the slices' own figures: their interquartile mean; of a difference, that of the differences from block to block. What
    /// the machine does to neighbouring slices alike is in neither difference, and what it does to a few of them moves none. On ladders of a
    /// shared virtual machine, intervals of p50 were two thirds as wide as those of a difference of medians over all requests, and those of
    /// CPU time as wide or half as wide as with the mean of the lower half of the slices (three hours, 6 and 25 deployments × 10 slices of 25 ms).
    Paired(OfSlice),
    /// The mean over the deployments of the Hodges–Lehmann estimate of their slices' own means; of a difference, of the blocks' differences.
    /// What disturbs a few slices does not move it, nor does what the service itself does seldom: it stands beside the mean, not for it.
    Undisturbed(Times),
    /// The mean over the deployments of what is seen once of each.
    OfDeployments(OfDeployments),
}

/// A slice's own figure.
#[derive(Clone, Copy)]
pub enum OfSlice {
    /// A quantile of its times.
    Quantile(Times, f64),
    /// A ratio.
    Ratio(fn(&SliceRow) -> Option<Ratio>),
}

/// Quantiles from here on are compared by their ratio.
const FAR_OUT: f64 = 0.999;

/// A numerator and a denominator.
pub type Ratio = (f64, f64);

impl Metric {
    /// The ratio of a slice; `None` for what is none of a slice, and where nothing was seen.
    pub fn ratio(&self, slice: &SliceRow) -> Option<Ratio> {
        match self.kind {
            Kind::Quantile(..) | Kind::OfDeployments(_) => None,
            Kind::Mean(times) | Kind::Undisturbed(times) => mean(times.of(slice)),
            Kind::Ratio(of) | Kind::Paired(OfSlice::Ratio(of)) => of(slice),
            Kind::Paired(OfSlice::Quantile(times, quantile)) => {
                Some((quantile_of(times.of(slice), quantile), 1.0)).filter(|(figure, _)| figure.is_finite())
            }
            Kind::PerRequest => per_request(slice, slice.observations.get(&self.id)),
            Kind::Level => Some((slice.observations.get(&self.id)?, 1.0)),
        }
    }

    /// The scale that its differences are estimated on. A quantile so far out hangs on few events, whose effects multiply: linear intervals cover too
    /// seldom where only one side has them.
    pub fn scale(&self) -> Scale {
        match self.kind {
            Kind::Quantile(_, quantile) if quantile >= FAR_OUT => Scale::Logarithmic,
            _ => Scale::Linear,
        }
    }

    /// Whether it is seen once a deployment, and of no slice.
    pub fn is_of_deployments(&self) -> bool {
        matches!(self.kind, Kind::OfDeployments(_))
    }

    fn primary(self) -> Metric {
        Metric { is_primary: true, ..self }
    }
}

/// The verdict for a figure that is higher (or lower) than the baseline's.
pub fn verdict(higher_is: HigherIs, higher: bool) -> Verdict {
    match (higher_is, higher) {
        (HigherIs::Slower, true) => Verdict::Slower,
        (HigherIs::Slower, false) => Verdict::Faster,
        (HigherIs::Costlier, true) => Verdict::Costlier,
        (HigherIs::Costlier, false) => Verdict::Cheaper,
        (HigherIs::More, true) => Verdict::More,
        (HigherIs::More, false) => Verdict::Fewer,
    }
}

/// Whether a metric is a mean or a tail: what a few disturbed requests decide.
pub fn is_of_the_tail(id: &str) -> bool {
    ["response.p99", "response.p99.9", "response.mean", "service.p99", "service.mean"].contains(&id)
}

/// All metrics of a run.
pub fn of_run(data: &RunData) -> Vec<Metric> {
    let of_deployments = seen(data).into_iter().map(|seen| Metric {
        id: seen.id,
        label: seen.label,
        unit: seen.unit,
        higher_is: seen.higher_is,
        is_primary: false,
        kind: Kind::OfDeployments(seen.figures),
    });
    of_slices(&data.run).into_iter().chain(of_deployments).collect()
}

/// Those that slices have.
pub fn of_slices(run: &RunRow) -> Vec<Metric> {
    all(&run.metrics)
}

/// Metrics of slices that no table shows, but that can be asked for by name.
pub fn unlisted(run: &RunRow) -> impl Iterator<Item = Metric> {
    let unlisted = run.metrics.iter().filter(|metric| metric.figure.is_none());
    unlisted.map(|metric| {
        let (label, higher_is) = (metric.name.clone(), HigherIs::More);
        of_probe(metric, &FigureDeclaration { label, higher_is, primary: false })
    })
}

fn all(declared: &[MetricDeclaration]) -> Vec<Metric> {
    let mut metrics = times();
    let mut of_probes = by_namespace(declared);
    for combined in COMBINED {
        let at = combined.place.among(&of_probes);
        of_probes.insert(at, (combined.metric)());
    }
    metrics.extend(of_probes);
    metrics.extend([
        Metric {
            unit: Unit::PerSecond,
            ..count("rate.achieved", "achieved rate", |s| Some((s.answered_in_time as f64, s.duration_s)))
        }
        .primary(),
        count("errors", "errors per request", |s| {
            Some((s.errors.values().sum::<u64>() as f64, s.due as f64))
        })
        .primary(),
    ]);
    metrics
}

/// The metrics of one request of a mix, under the names of those of all requests together.
pub fn of_request(number: usize) -> [Metric; 4] {
    let times = Times::OfRequest(number);
    [
        quantile("response.p50", "response p50", times, 0.5).primary(),
        quantile("response.p90", "response p90", times, 0.9),
        quantile("response.p99", "response p99", times, 0.99).primary(),
        time("response.mean", "response mean", Kind::Mean(times)),
    ]
}

/// The load's own times.
fn times() -> Vec<Metric> {
    vec![
        quantile("response.p50", "response p50", Times::Response, 0.5).primary(),
        time("response.p50.paired", "  p50, paired", Kind::Paired(OfSlice::Quantile(Times::Response, 0.5))),
        quantile("response.p90", "response p90", Times::Response, 0.9),
        quantile("response.p99", "response p99", Times::Response, 0.99).primary(),
        time("response.p99.paired", "  p99, paired", Kind::Paired(OfSlice::Quantile(Times::Response, 0.99))),
        quantile("response.p99.9", "response p99.9", Times::Response, 0.999).primary(),
        time("response.mean", "response mean", Kind::Mean(Times::Response)).primary(),
        time("response.mean.undisturbed", "mean, undisturbed", Kind::Undisturbed(Times::Response)).primary(),
        quantile("service.p50", "service p50", Times::Service, 0.5).primary(),
        quantile("service.p99", "service p99", Times::Service, 0.99),
        time("service.mean", "service mean", Kind::Mean(Times::Service)),
        quantile("send_lag.p99", "send lag p99", Times::SendLag, 0.99),
    ]
}

/// What is made of several values of a slice, in an order in which each place is there already.
const COMBINED: [Combined; 4] = [
    Combined {
        place: Place::After("cpu.machine"),
        metric: || {
            cost(
                "cpu.load",
                "load's CPU per request",
                Kind::Ratio(|s| per_request(s, Some(s.load_cpu_ns as f64))),
            )
        },
    },
    Combined {
        place: Place::After("cpu.load"),
        metric: || {
            // Packets to the service are carried by their sender, packets from it by the service; waiting awake is neither. A kernel
            // with CONFIG_IRQ_TIME_ACCOUNTING charges soft interrupts to nobody: there it is less than the whole, which a note says.
            let path = |s: &SliceRow| {
                let load_ns = s.load_cpu_ns.saturating_sub(s.load_spun_ns?);
                per_request(s, Some(s.observations.get(SERVICE_CPU)? + load_ns as f64))
            };
            cost("cpu.path", "CPU per request, both ends, paired", Kind::Paired(OfSlice::Ratio(path)))
        },
    },
    Combined {
        place: Place::Before("softirqs.net_rx"),
        metric: || {
            count("softirqs", "softirqs per request", |s| {
                per_request(s, sum(s, ["softirqs.net_rx", "softirqs.net_tx"]))
            })
            .primary()
        },
    },
    Combined {
        place: Place::Before("switches.voluntary"),
        metric: || {
            count("switches", "context switches", |s| {
                per_request(s, sum(s, ["switches.voluntary", "switches.involuntary"]))
            })
            .primary()
        },
    },
];

struct Combined {
    place: Place,
    metric: fn() -> Metric,
}

/// Where a table shows it: beside a metric, or at the end if no probe of the run has that one.
enum Place {
    Before(&'static str),
    After(&'static str),
}

impl Place {
    fn among(&self, metrics: &[Metric]) -> usize {
        let of = |id: &str| metrics.iter().position(|metric| metric.id == id);
        match self {
            Place::Before(id) => of(id),
            Place::After(id) => of(id).map(|at| at + 1),
        }
        .unwrap_or(metrics.len())
    }
}

/// The declared metrics that tables show: those of a namespace together, else in the order of their declarations.
fn by_namespace(declared: &[MetricDeclaration]) -> Vec<Metric> {
    let namespace = |name: &str| name.split('.').next().map(str::to_owned);
    let mut namespaces = Vec::new();
    for metric in declared {
        let space = namespace(&metric.name);
        if !namespaces.contains(&space) {
            namespaces.push(space);
        }
    }
    let in_order = namespaces
        .iter()
        .flat_map(|space| declared.iter().filter(move |metric| namespace(&metric.name) == *space));
    in_order.filter_map(|metric| Some(of_probe(metric, metric.figure.as_ref()?))).collect()
}

fn of_probe(metric: &MetricDeclaration, figure: &FigureDeclaration) -> Metric {
    Metric {
        id: metric.name.clone(),
        label: figure.label.clone(),
        unit: metric.unit,
        higher_is: figure.higher_is,
        is_primary: figure.primary,
        kind: match metric.kind {
            MetricKind::Counter => Kind::PerRequest,
            MetricKind::Level => Kind::Level,
        },
    }
}

fn metric(id: &'static str, label: &'static str, unit: Unit, higher_is: HigherIs, kind: Kind) -> Metric {
    Metric { id: id.into(), label: label.into(), unit, higher_is, is_primary: false, kind }
}

fn quantile(id: &'static str, label: &'static str, times: Times, quantile: f64) -> Metric {
    time(id, label, Kind::Quantile(times, quantile))
}

fn time(id: &'static str, label: &'static str, kind: Kind) -> Metric {
    metric(id, label, Unit::Nanoseconds, HigherIs::Slower, kind)
}

fn cost(id: &'static str, label: &'static str, kind: Kind) -> Metric {
    metric(id, label, Unit::Nanoseconds, HigherIs::Costlier, kind)
}

fn count(id: &'static str, label: &'static str, ratio: fn(&SliceRow) -> Option<Ratio>) -> Metric {
    metric(id, label, Unit::Count, HigherIs::More, Kind::Ratio(ratio))
}

/// The sum of values of which none is missing.
fn sum(slice: &SliceRow, names: [&str; 2]) -> Option<f64> {
    names.into_iter().map(|name| slice.observations.get(name)).sum()
}

fn per_request(slice: &SliceRow, total: Option<f64>) -> Option<Ratio> {
    (slice.answered > 0).then_some((total?, slice.answered as f64))
}

/// Sum and number of the recorded times; each at the middle of its bucket, 0.05 % off at most.
fn mean(histogram: &SparseHistogram) -> Option<Ratio> {
    let count = histogram.len() as f64;
    (count > 0.0).then(|| (histogram.mean() * count, count))
}

#[cfg(test)]
mod tests {
    use loadline_model::experiment::{CLAIM_METRICS, OF_DEPLOYMENTS, higher_is};
    use loadline_model::metrics::{RESIDENT_MEMORY, RUN_QUEUE_WAIT};

    use super::*;

    fn ids(declared: &[MetricDeclaration]) -> Vec<String> {
        let own = times().len();
        all(declared).into_iter().skip(own).map(|metric| metric.id.into_owned()).collect()
    }

    fn declared(name: &'static str) -> MetricDeclaration {
        MetricDeclaration::counter(name, Unit::Count).shown_as("a label", HigherIs::More)
    }

    #[test]
    fn what_is_made_of_several_stands_beside_them() {
        let names = [
            "cpu.service",
            "cpu.machine",
            "softirqs.net_rx",
            "switches.voluntary",
            "cpu.throttled",
            "jvm.gc",
        ];
        let expected = [
            "cpu.service",
            "cpu.machine",
            "cpu.load",
            "cpu.path",
            "cpu.throttled",
            "softirqs",
            "softirqs.net_rx",
            "switches",
            "switches.voluntary",
            "jvm.gc",
            "rate.achieved",
            "errors",
        ];
        assert_eq!(ids(&names.map(declared)), expected);
    }

    #[test]
    fn what_claims_name_is_there() {
        let of_probes = [SERVICE_CPU, RUN_QUEUE_WAIT, "cpu.throttled", RESIDENT_MEMORY, "memory.peak"];
        let ids: Vec<String> =
            all(&of_probes.map(declared)).into_iter().map(|metric| metric.id.into_owned()).collect();
        for id in CLAIM_METRICS.into_iter().filter(|id| !OF_DEPLOYMENTS.contains(id)) {
            assert!(ids.iter().any(|other| other == id), "{id}");
        }
    }

    #[test]
    fn the_words_of_conditions_are_those_of_the_verdicts() {
        let own: Vec<Metric> =
            all(&[]).into_iter().filter(|metric| CLAIM_METRICS.contains(&&*metric.id)).collect();
        assert!(own.len() > 8);
        for metric in own {
            assert_eq!(metric.higher_is, higher_is(&metric.id), "{}", metric.id);
        }
    }

    #[test]
    fn without_any_probe_it_stands_at_the_end() {
        let expected = ["cpu.load", "cpu.path", "softirqs", "switches", "rate.achieved", "errors"];
        assert_eq!(ids(&[]), expected);
    }

    #[test]
    fn what_has_no_label_is_in_no_table() {
        let silent = MetricDeclaration::counter("machine.cpus", Unit::Count);
        assert_eq!(ids(&[silent]), ids(&[]));
    }
}
