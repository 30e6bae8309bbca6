//! A search for the most that a service carries.

use serde::{Deserialize, Serialize};

use crate::load::Rate;

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// In its author's words: `p99 <= 50ms`.
    pub text: String,
    /// Id of the metric: one of [`CLAIM_METRICS`](super::CLAIM_METRICS), [`SUCCESS`] or [`SENT`].
    pub metric: String,
    /// What the figure of a slice must be.
    pub bound: Bound,
}

/// Share of the due requests that were answered, and as expected.
pub const SUCCESS: &str = "success";
/// Share of the due requests that were sent before the slice was over: the others waited for a connection, because the service was slower than
/// they came.
pub const SENT: &str = "sent";

/// A bound, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
        Objective { text: "sent >= 99%".to_owned(), metric: SENT.to_owned(), bound: Bound::AtLeast(0.99) }
    }

    /// The length of a slice of the search at this rate, s: enough requests for a quantile.
    pub fn slice_s(rate: f64) -> f64 {
        (REQUESTS / rate).clamp(SHORTEST_SLICE_S, LONGEST_SLICE_S)
    }
}

/// Ten beyond a 99th percentile.
const REQUESTS: f64 = 1_000.0;
/// A queue needs time to become as long as it gets.
const SHORTEST_SLICE_S: f64 = 1.0;
const LONGEST_SLICE_S: f64 = 5.0;

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
    fn slices_hold_a_thousand_requests_where_that_is_no_matter_of_minutes() {
        assert_eq!([10.0, 500.0, 1_000.0, 50_000.0].map(Capacity::slice_s), [5.0, 2.0, 1.0, 1.0]);
    }
}
