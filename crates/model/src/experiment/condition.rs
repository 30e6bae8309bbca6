//! Conditions on which a run fails: `p99 slower by > 5%`.

use serde::{Deserialize, Serialize};

use super::CAPACITY;
use crate::metrics::HigherIs;

/// A condition that no candidate of a run may meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// In its author's words: `p99 slower by > 5%`.
    pub text: String,
    /// Id of the metric, one of [`CLAIM_METRICS`](super::CLAIM_METRICS) or [`CAPACITY`](super::CAPACITY).
    pub metric: String,
    /// Which way the candidate's figure must differ.
    pub direction: Direction,
    /// By more than how much.
    pub by: Amount,
}

/// A way in which a figure differs from the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It is higher.
    Higher,
    /// It is lower.
    Lower,
}

/// How large a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// This share of the baseline's figure: 0.05 is 5 %.
    Share(f64),
    /// This much, in the metric's unit.
    Figure(f64),
}

impl Condition {
    /// The words of the verdicts about its metric.
    pub fn higher_is(&self) -> HigherIs {
        higher_is(&self.metric)
    }
}

impl Amount {
    /// The amount in the metric's unit, where the baseline's figure is this.
    pub fn of(self, baseline: f64) -> f64 {
        match self {
            Amount::Share(share) => share * baseline.abs(),
            Amount::Figure(figure) => figure,
        }
    }
}

/// The words of the verdicts about one of [`CLAIM_METRICS`](super::CLAIM_METRICS) or a capacity: those that it is declared with, known before any
/// probe has declared it.
pub fn higher_is(metric: &str) -> HigherIs {
    match metric {
        "softirqs" | "switches" | "rate.achieved" | CAPACITY => HigherIs::More,
        "cpu.service" | "cpu.path" | "memory.resident" | "memory.peak" | "memory.idle" | "image.size" => {
            HigherIs::Costlier
        }
        _ => HigherIs::Slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_share_of_the_baseline_or_a_figure_of_its_own() {
        assert_eq!(Amount::Share(0.05).of(200.0), 10.0);
        assert_eq!(Amount::Share(0.05).of(-200.0), 10.0);
        assert_eq!(Amount::Figure(3.0).of(200.0), 3.0);
    }
}
