//! A metric over stored runs, and where it changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::Unit;

/// A metric of each cell that several runs measured, on machines that are alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Version of this document's shape.
    pub schema: String,
    /// Id of the metric.
    pub metric: String,
    /// With fewer points than this a series is not searched for changes.
    pub least_points: usize,
    /// One for each cell and kind of machine.
    pub series: Vec<Series>,
    /// Runs that are in no series, and why.
    pub left_out: Vec<LeftOut>,
}

/// The shape of [`History`].
pub const HISTORY_SCHEMA: &str = "loadline/history/1";

/// A run that is in no series.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Number of the run.
    pub run: i64,
    /// Why.
    pub reason: String,
}

/// The figures of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Service and platform, and what the service may use if that is limited.
    pub label: String,
    /// The load with its connections and requests.
    pub load: String,
    /// What kind of machine it is: CPU model, number of CPUs, kernel.
    pub machine: String,
    /// Unit of the figures.
    pub unit: Unit,
    /// In the order of the runs.
    pub points: Vec<Point>,
    /// Where they changed.
    pub changes: Vec<Change>,
}

/// The figure of one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Number of the run.
    pub run: i64,
    /// When it began, RFC 3339.
    pub started: String,
    /// The figure.
    pub value: f64,
    /// Its interval, over the deployments of the run alone; absent where it has none.
    pub interval: Option<[f64; 2]>,
    /// How many these are.
    #[serde(default)]
    pub deployments: usize,
    /// Whether gates of the run failed in this cell, so that the figure cannot be trusted. It takes part in the search for changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// A change.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Index of the first point after it.
    pub at: usize,
    /// Mean of the points between the change before and this one.
    pub before: f64,
    /// Mean of the points between this change and the next one.
    pub after: f64,
    /// After over before, less one; absent where before is zero.
    pub relative: Option<f64>,
    /// How often random orders of the points show as much.
    pub p_value: f64,
    /// Whether there are points enough after it to call it settled: the last few may be a spell.
    pub settled: bool,
}
