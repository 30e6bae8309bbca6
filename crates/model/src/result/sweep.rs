//! A value that some cells differ in, and nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::CellId;
use crate::metrics::Unit;

/// Cells that are alike but for one number: each figure of theirs is a curve over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The number, as an experiment file has it: `limits.cpu`, `limits.memory`, `replicas`, `env.GOMAXPROCS`, `connections`, `rate`, or the
    /// option of a command line, `--orders`.
    pub over: String,
    /// What people call it: `CPU limit`.
    pub name: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// What the cells have in common: `orders on host at 2000/s`.
    pub label: String,
    /// From the smallest number to the largest; three different ones at least.
    pub points: Vec<SweepPoint>,
}

/// One number of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPoint {
    /// The number.
    pub value: f64,
    /// Index of the cell.
    pub cell: CellId,
}
