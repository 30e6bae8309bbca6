//! How throughput grows with concurrency, in the Universal Scalability Law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A service on a platform, measured in closed loops of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scalability {
    /// Service and platform.
    pub label: String,
    /// Connections and answered requests a second.
    pub points: Vec<(f64, f64)>,
    /// Throughput of one connection, λ, and its interval.
    pub one_per_second: Fitted,
    /// Contention, σ: the share of the work that only one does at a time.
    pub contention: Fitted,
    /// Crosstalk, κ: what each pair of connections costs.
    pub crosstalk: Fitted,
    /// Connections with the most throughput; absent where more always gives more.
    pub peak: Option<f64>,
    /// The largest relative error of a point.
    pub worst_error: f64,
    /// Whether the law describes the points: no error is larger than 10 %.
    pub holds: bool,
}

/// A parameter of a law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fitted {
    /// What fits best.
    pub value: f64,
    /// Its interval over the deployments; absent with fewer than two.
    pub interval: Option<[f64; 2]>,
}
