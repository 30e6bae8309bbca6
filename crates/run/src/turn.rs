//! One turn of a block: what is driven at the same time, between two readings of the counters.

use std::time::Duration;

use loadline_model::load::Load;
use loadline_model::rows::TrialRow;
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
    /// The site to load.
    pub site: SiteId,
    /// The load. A search tries loads that its experiment does not list, so it is given by value.
    pub load: Load,
    /// The cell whose connections are used, and which the slice belongs to.
    pub cell: CellId,
    /// Seed of the schedule: the same for all cells that are compared within a block.
    pub seed: u64,
    /// The shift of the schedule relative to other visits of the turn.
    pub offset: Duration,
    /// What it is in a search for a capacity.
    pub trial: Option<TrialRow>,
}

/// The position of a turn in the run.
#[derive(Clone, Copy)]
pub(crate) struct SlicePosition {
    pub round: u32,
    pub block: u32,
    pub attempt: u32,
    pub position: u32,
}
