//! What the slowest requests of a cell met.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tails::Cause;

/// The slowest requests of a cell, in slices in which it was watched when its service was held up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// How many requests: the slowest hundredth of each slice, 256 at most.
    pub requests: u64,
    /// The least response time among them, ns.
    pub from_ns: u64,
    /// What held the service up, as far as it can be seen.
    pub causes: Vec<TailCause>,
}

/// One cause, beside the slowest requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TailCause {
    /// The cause.
    pub cause: Cause,
    /// Share of the requests that overlap with it.
    pub touched: f64,
    /// Share that would, were they due at any other moment of their slices.
    pub by_chance: f64,
    /// Share of their time that overlaps with it.
    pub time_share: f64,
    /// Share of all the time in which it was watched for: what the former would be by chance.
    #[serde(default)]
    pub time_by_chance: f64,
}
