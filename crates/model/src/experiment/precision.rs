//! How precise a figure is to be before a run ends.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// How narrow the interval of a metric's difference is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precision {
    /// Id of the metric, one of [`CLAIM_METRICS`](super::CLAIM_METRICS).
    pub metric: String,
    /// Half the interval's width, relative to the baseline: 0.01 for ±1 %.
    pub within: f64,
}

impl Precision {
    /// The metric of a precision that names none.
    pub const DEFAULT_METRIC: &str = "response.p50";
}

/// Before a run could ask for other metrics, it asked for the median's share alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    OfMedian(f64),
    All(Vec<Precision>),
}

/// Reads what any version has stored.
pub(super) fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Vec<Precision>>, D::Error> {
    Ok(Option::<Stored>::deserialize(reader)?.map(|stored| match stored {
        Stored::OfMedian(within) => vec![Precision { metric: Precision::DEFAULT_METRIC.to_owned(), within }],
        Stored::All(all) => all,
    }))
}

#[cfg(test)]
mod tests {
    use crate::experiment::PlanSpec;

    fn read(until: &str) -> Vec<(String, f64)> {
        let mut plan = serde_json::to_value(PlanSpec::default()).unwrap();
        plan["until"] = serde_json::from_str(until).unwrap();
        let plan: PlanSpec = serde_json::from_value(plan).unwrap();
        plan.until.into_iter().flatten().map(|precision| (precision.metric, precision.within)).collect()
    }

    #[test]
    fn what_runs_of_before_stored_is_the_medians() {
        assert_eq!(read("null"), []);
        assert_eq!(read("0.01"), [("response.p50".to_owned(), 0.01)]);
        assert_eq!(
            read(r#"[{"metric": "response.p99", "within": 0.05}]"#),
            [("response.p99".to_owned(), 0.05)]
        );
    }
}
