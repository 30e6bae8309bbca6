//! Whether the figures of a run can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GateFigure, Statement, Unit};
use crate::gates::Gate;
use crate::ids::CellId;

/// Whether the figures can be trusted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// Whether all gates hold for all cells.
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
    /// What was measured again because the machine was disturbed.
    #[serde(default)]
    pub repeats: Repeats,
}

impl Trust {
    /// Whether the figures of these cells can be trusted. What does not say which cells it is about is about all.
    pub fn trusts(&self, cells: impl IntoIterator<Item = CellId>) -> bool {
        let failing: Vec<&GateSummary> = self.gates.iter().filter(|gate| !gate.holds).collect();
        let passes = |cell| failing.iter().all(|gate| !gate.cells.is_empty() && !gate.cells.contains(&cell));
        self.trusted || (!failing.is_empty() && cells.into_iter().all(passes))
    }
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

/// What was measured again, or does not count. All cells of a load are repeated together when one of their slices in a block was disturbed.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Blocks measured, each load of a block for itself.
    pub blocks: usize,
    /// Those of them in which a slice of the first attempt was disturbed.
    pub disturbed: usize,
    /// Whether that is so many that a reader must know.
    pub many: bool,
    /// Blocks that do not count: those that were never quiet, and all of a deployment with hardly any others.
    #[serde(default)]
    pub left_out: usize,
    /// Blocks that count for some of their comparisons, those whose cells were quiet in an attempt.
    #[serde(default)]
    pub in_part: usize,
    /// Disturbed blocks that count as they are, because too few were quiet.
    #[serde(default)]
    pub as_they_are: usize,
    /// By load.
    pub loads: Vec<LoadRepeats>,
}

/// How often the cells of a load were disturbed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadRepeats {
    /// Each cell of the load.
    pub cells: Vec<CellRepeats>,
    /// p-value of "all equally often" (Cochran's Q), Holm-corrected over the loads; absent with a single cell.
    pub p_holm: Option<f64>,
    /// Whether they were not: a cell may then have disturbed itself, and means and tails of this load claim nothing.
    pub differ: bool,
}

/// How often the slices of a cell were disturbed, repeats included.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CellRepeats {
    /// Index of the cell.
    pub cell: CellId,
    /// Slices measured together with those of all other cells of the load.
    pub slices: usize,
    /// Those of them in which a gate of the machine failed or, where blocks are left out, time was stolen.
    pub disturbed: usize,
}

/// One gate over the whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GateSummary {
    /// `rate`, `send_lag`, `pauses`, `generator`, `errors`, `steal`, `foreign_cpu`, `stationary`.
    #[schemars(with = "String")]
    pub gate: Gate,
    /// Short text with the figure, `send lag p99 6 µs`: over the cells for which it does not hold, if there are any, or else over all.
    #[serde(rename = "text")]
    pub figure: Statement<GateFigure>,
    /// Whether it holds for the run: no cell lost more than the tolerated share of its slices to it.
    pub holds: bool,
    /// Indices of the cells for which it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellId>,
    /// Slices of the same cells that count and failed it.
    pub failed: usize,
    /// What to do when it fails.
    pub remedy: Statement<Gate>,
}
