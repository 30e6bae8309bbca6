//! What each layer costs: the rungs of a ladder, and the sum of a path held against the whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unit;
use crate::CellId;

/// Platforms that each add a layer to the one below, under one load.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ladder {
    /// Index of the cell that all others stand on.
    pub bottom: CellId,
    /// The cells above it, in the order of the experiment.
    pub rungs: Vec<Rung>,
    /// The layers of a path summed up, one per top.
    pub sums: Vec<LadderSum>,
}

/// A cell of a ladder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Index of the cell.
    pub cell: CellId,
    /// Index of the cell below it.
    pub below: CellId,
    /// Index of the contrast between the two: the layer's cost.
    pub contrast: usize,
}

/// The costs of the layers between the bottom and a top, and the same difference measured anew.
///
/// The layers' costs add up to the difference of the top and the bottom that they were computed from, whatever they are. So the end to
/// end difference is that of a second deployment of both.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderSum {
    /// Index of the top's cell.
    pub top: CellId,
    /// The cells from the bottom to the top.
    pub path: Vec<CellId>,
    /// By metric.
    pub rows: Vec<SumRow>,
}

/// One metric of a sum.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SumRow {
    /// Id of the metric, `response.p50`.
    pub metric: String,
    /// Unit of the figures.
    pub unit: Unit,
    /// The layers' costs together.
    pub sum: Estimate,
    /// The top's second deployment less the bottom's; absent without these.
    pub end_to_end: Option<Estimate>,
    /// End to end less the sum.
    pub residual: Option<Estimate>,
    /// The largest residual, either way, that does not matter.
    #[serde(default)]
    pub margin: f64,
    /// Whether the residual was shown to be smaller than the margin, or shown not to be zero; `None` where the run cannot tell. Both are
    /// corrected over all residuals of the run.
    pub closes: Option<bool>,
}

/// A figure and its interval.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its interval; absent when nothing can be claimed.
    pub interval: Option<[f64; 2]>,
}
