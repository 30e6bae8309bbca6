//! What is measured next, decided from what was measured so far: the fixed plan, the plan that continues until its intervals are narrow, and
//! the search for the most that services carry.

mod capacity;
mod fixed;
mod out_of_time;
mod until;

use std::time::Duration;

use loadline_model::rows::SliceRow;
use loadline_model::{CellId, SiteId};

pub use capacity::SearchCapacity;
pub(crate) use capacity::trials_s;
pub use fixed::FixedPlan;
pub use loadline_search::Patience;
pub use out_of_time::OutOfTime;
pub(crate) use out_of_time::in_time;
pub use until::Until;

use crate::turn::Turn;

/// Decides the rounds of deployments and the turns of their blocks.
pub trait Strategy {
    /// What to deploy next.
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound;

    /// The turns of the stage's next block, in order; `None` when the stage is complete.
    fn next_block(&mut self, block: &BlockContext<'_>) -> Option<Vec<Turn>>;

    /// Receives each slice once it is stored.
    fn measured(&mut self, slice: &SliceRow) {
        let _ = slice;
    }
}

/// The progress of a run between two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundsSoFar {
    /// Finished rounds of deployments.
    pub rounds: u32,
    /// Since the run began.
    pub elapsed: Duration,
}

/// What to do between two rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextRound {
    /// Deploy the sites of each stage together, one stage after the other.
    Deploy(Vec<Vec<SiteId>>),
    /// Enough was measured.
    Enough,
    /// Not enough was measured, but the time is over.
    TimeIsUp {
        /// The rounds that were completed.
        within: Duration,
    },
}

/// The state of a stage before its next block.
pub struct BlockContext<'a> {
    /// Round of deployments, from 0.
    pub round: u32,
    /// Block of the stage, from 0.
    pub block: u32,
    /// Cells that are deployed.
    pub cells: &'a [CellId],
    /// Those of them that are measured side by side with the others of their load.
    pub side_by_side: &'a [CellId],
}
