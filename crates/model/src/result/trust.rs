//! Whether the figures of a run can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GateFigure, Statement, Unit};
use crate::gates::Gate;
use crate::ids::CellId;

/// Whether the figures can be trusted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// Whether all gates hold.
    pub trusted: bool,
    /// Each gate over the whole run.
    pub gates: Vec<GateSummary>,
    /// Slices measured, repeats included.
    pub slices: usize,
    /// Slices that failed a gate.
    pub slices_failed: usize,
    /// Slices that were repeats.
    pub slices_repeated: usize,
    /// Where a twin differs significantly from what it is the twin of, though both are the same: at most one run in twenty has any by chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins_differ: Vec<TwinDifference>,
}

/// A metric in which a twin differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwinDifference {
    /// Index of the cell that it is the twin of.
    pub baseline: CellId,
    /// Index of the twin.
    pub twin: CellId,
    /// Label of the metric, `response p50`.
    pub metric: String,
    /// Unit of the figures below.
    pub unit: Unit,
    /// Twin − baseline.
    pub difference: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// The p-value, Holm-corrected over the primary metrics of all twins.
    pub p_holm: f64,
}

/// One gate over the whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GateSummary {
    /// `rate`, `send_lag`, `generator`, `errors`, `steal`, `foreign_cpu`, `stationary`.
    #[schemars(with = "String")]
    pub gate: Gate,
    /// Short text with the figure, `send lag p99 6 µs`.
    #[serde(rename = "text")]
    pub figure: Statement<GateFigure>,
    /// Whether it holds for the run: no cell lost more than the tolerated share of its slices to it.
    pub holds: bool,
    /// Slices that failed it and were not made good by a repeat.
    pub failed: usize,
    /// What to do when it fails.
    pub remedy: Statement<Gate>,
}
