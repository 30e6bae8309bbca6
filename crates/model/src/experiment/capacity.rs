//! A search for the most that a service carries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::Rate;
use crate::metrics::{MetricDeclaration, Unit};

/// What is searched for: of each cell the highest rate at which all objectives are met. The search begins at the rate of the cell's load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// At least one.
    pub objectives: Vec<Objective>,
    /// Half the width that the interval of each capacity is to have, relative to it: 0.02 for ±2 %.
    pub precision: f64,
    /// No higher rate is tried; `None`: as much as the generator can send.
    pub most: Option<Rate>,
}

/// What a slice must meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// In its author's words: `p99 <= 50ms`.
    pub text: String,
    /// Id of the metric: one that a claim may be about and slices have, `success`, `sent`, `errors`, or one that a probe declares.
    pub metric: String,
    /// What the figure of a slice must be.
    pub bound: Bound,
    /// The unit that the bound is written in, where only the declaration of the metric says whether that is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// Share of the due requests that were answered, and as expected.
pub const SUCCESS: &str = "success";
/// Share of the due requests that were sent before the slice was over: the others waited for a connection, because the service was slower than
/// they came.
pub const SENT: &str = "sent";
/// Failed requests for each that was due.
pub const ERRORS: &str = "errors";

/// Why slices cannot be judged by an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveFault {
    /// No probe declares the metric.
    #[error("there is no such metric")]
    NoMetric,
    /// The bound has another unit.
    #[error("the metric is {}", in_words(*.0))]
    OtherUnit(Unit),
}

fn in_words(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "a time",
        Unit::Bytes => "a size",
        Unit::PerSecond => "a rate",
        Unit::Count => "a number",
    }
}

impl Objective {
    /// Why slices cannot be judged by it whose probes declare these metrics.
    pub fn fault(&self, declared: &[MetricDeclaration]) -> Option<ObjectiveFault> {
        let unit = self.unit?;
        match declared.iter().find(|metric| metric.name == self.metric) {
            None => Some(ObjectiveFault::NoMetric),
            Some(metric) => (metric.unit != unit).then_some(ObjectiveFault::OtherUnit(metric.unit)),
        }
    }
}

/// What a search finds, as the metric of a condition or a history: the highest rate that meets the objectives.
pub const CAPACITY: &str = "capacity";

/// A bound, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Bound {
    /// Whether a figure keeps to it.
    pub fn holds(self, figure: f64) -> bool {
        match self {
            Bound::AtMost(most) => figure <= most,
            Bound::AtLeast(least) => figure >= least,
        }
    }
}

impl Capacity {
    /// What a service must do that is said to carry a rate, whatever else is asked of it.
    pub fn keeps_up() -> Objective {
        let (text, metric) = ("sent >= 99%".to_owned(), SENT.to_owned());
        Objective { text, metric, bound: Bound::AtLeast(0.99), unit: None }
    }

    /// The length of a slice of the search at this rate, s: enough requests for a quantile, and so long that the capacity in slices of this length
    /// exceeds that in endless ones by about the precision at most. A slice begins with an empty queue, and passes above saturation until the queue
    /// has grown.
    pub fn slice_s(&self, rate: f64) -> f64 {
        let requests_s = (REQUESTS / rate).min(LONGEST_FOR_REQUESTS_S);
        let queue_s = self.shortest_response_s().map_or(0.0, |response_s| self.queue_s(response_s, rate));
        requests_s.max(queue_s).clamp(SHORTEST_SLICE_S, LONGEST_SLICE_S)
    }

    /// Slices of length T pass up to a rate that is too high by W / T, because the queue of what is not carried grows to the objective W only then,
    /// and by about √(2 / (rate T)): the spread of the work that arrives in a slice, at random and as variable as exponential times, which lets a
    /// queue that grows for long be rare. Both together are the precision in slices of this length. Simulations bear it out (`docs/proof.md`).
    fn queue_s(&self, response_s: f64, rate: f64) -> f64 {
        let of_chance = (2.0 / rate).sqrt();
        let root = (of_chance + (of_chance * of_chance + 4.0 * self.precision * response_s).sqrt())
            / (2.0 * self.precision);
        root * root
    }

    /// The longest response of a slice whose queue grows throughout, when it breaks its first objective: that of a high quantile is nearly the
    /// longest, the median and the mean are half of it.
    fn shortest_response_s(&self) -> Option<f64> {
        let of_response = |objective: &Objective| match (objective.metric.as_str(), objective.bound) {
            ("response.p50" | "response.mean", Bound::AtMost(most_ns)) => Some(2.0 * most_ns / 1e9),
            (metric, Bound::AtMost(most_ns)) if metric.starts_with(RESPONSE) => Some(most_ns / 1e9),
            _ => None,
        };
        self.objectives.iter().filter_map(of_response).reduce(f64::min)
    }
}

/// How the ids of response times begin: time in a queue is part of them.
const RESPONSE: &str = "response.";
/// Ten beyond a 99th percentile.
const REQUESTS: f64 = 1_000.0;
const LONGEST_FOR_REQUESTS_S: f64 = 5.0;
const SHORTEST_SLICE_S: f64 = 1.0;
/// With longer ones a search takes an hour.
const LONGEST_SLICE_S: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_on_its_edge() {
        assert!(Bound::AtMost(5.0).holds(5.0) && !Bound::AtMost(5.0).holds(5.1));
        assert!(Bound::AtLeast(0.99).holds(0.99) && !Bound::AtLeast(0.99).holds(0.98));
        assert!(!Bound::AtMost(5.0).holds(f64::NAN));
    }

    #[test]
    fn a_bound_must_be_in_the_unit_of_a_metric_that_there_is() {
        let declared = [MetricDeclaration::level("jvm.heap.used", Unit::Bytes)];
        let fault = |metric: &str, unit| {
            let (text, metric) = (String::new(), metric.to_owned());
            Objective { text, metric, bound: Bound::AtMost(1.0), unit }.fault(&declared)
        };
        assert_eq!(fault("jvm.heap.used", Some(Unit::Bytes)), None);
        assert_eq!(fault("jvm.heap.used", Some(Unit::Count)), Some(ObjectiveFault::OtherUnit(Unit::Bytes)));
        assert_eq!(fault("jvm.heap.usde", Some(Unit::Bytes)), Some(ObjectiveFault::NoMetric));
        assert_eq!(fault("response.p99", None), None, "every slice has it");
    }

    #[test]
    fn slices_hold_a_thousand_requests_where_that_is_no_matter_of_minutes() {
        let capacity = search(0.02, &[]);
        let lengths = [10.0, 500.0, 1_000.0, 50_000.0].map(|rate| capacity.slice_s(rate));
        assert_eq!(lengths, [5.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn the_queue_of_a_rate_that_is_too_high_outgrows_the_objective_within_a_slice() {
        let at = |rate: f64, objectives: &[(&str, f64)]| search(0.02, objectives).slice_s(rate);
        let too_high =
            |rate: f64, within_s: f64, slice_s: f64| within_s / slice_s + (2.0 / (rate * slice_s)).sqrt();
        for rate in [500.0, 2_000.0, 10_000.0] {
            let slice_s = at(rate, &[("response.p99", 50e6)]);
            assert!((too_high(rate, 0.05, slice_s) / 0.02 - 1.0).abs() < 1e-9, "{rate}/s: {slice_s} s");
        }
        let p99 = at(2_000.0, &[("response.p99", 50e6)]);
        assert_eq!(at(2_000.0, &[("response.p99", 80e6), ("response.mean", 25e6)]), p99);
        assert_eq!(at(2_000.0, &[("response.p99", 10e9)]), LONGEST_SLICE_S);
        assert_eq!(at(2_000.0, &[("service.p99", 50e6), ("cpu.service", 80e3)]), SHORTEST_SLICE_S);
    }

    fn search(precision: f64, objectives: &[(&str, f64)]) -> Capacity {
        let objective = |(metric, most): &(&str, f64)| Objective {
            text: format!("{metric} <= {most}"),
            metric: (*metric).to_owned(),
            bound: Bound::AtMost(*most),
            unit: None,
        };
        Capacity { objectives: objectives.iter().map(objective).collect(), precision, most: None }
    }
}
