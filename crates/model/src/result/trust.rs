//! Whether the figures of a run can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GateFigure, Statement};
use crate::gates::Gate;

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
