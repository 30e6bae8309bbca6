//! One turn of a block: what is driven at the same time, between two readings of the counters.

use std::time::Duration;

use loadline_model::load::Load;
use loadline_model::{CellId, SiteId};

/// What one turn measures: one visit alone, or several side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// At least one.
    pub visits: Vec<Visit>,
    /// How long the load runs.
    pub duration: Duration,
}

/// A site under a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// What is loaded.
    pub site: SiteId,
    /// With what. A search tries loads that its experiment doesn't list, so the load itself is given.
    pub load: Load,
    /// Whose connections are used, and whose the slice is.
    pub cell: CellId,
    /// Seed of the schedule: the same for all cells that are compared within a block.
    pub seed: u64,
    /// By how much the schedule is shifted against those of other visits of the turn.
    pub offset: Duration,
}
