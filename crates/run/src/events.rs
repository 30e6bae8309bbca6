//! Events of a run in progress, for showing progress.

use std::time::Duration;

use loadline_model::CellId;
use loadline_model::notes::Note;
use loadline_model::rows::SliceRow;

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A service is being started.
    Deploying {
        /// Round of deployments, from 0.
        round: u32,
        /// Service and platform.
        site: String,
    },
    /// What a start is waiting for.
    Progress {
        /// Service and platform.
        site: String,
        /// `pulling nginx:1.27, 34 of 67 MB`
        text: String,
    },
    /// A service answered for the first time.
    Ready {
        /// Service and platform.
        site: String,
        /// Since its start.
        after: Duration,
    },
    /// The warm-up of a cell has ended, because it is stationary or at its time limit.
    Warm {
        /// The cell.
        cell: CellId,
        /// How long it was loaded.
        after: Duration,
        /// Whether it is stationary.
        stationary: bool,
    },
    /// A slice was measured and kept.
    Measured(Box<SliceRow>),
    /// A block is complete.
    BlockDone {
        /// Round of deployments, from 0.
        round: u32,
        /// Block of the round, from 0.
        block: u32,
    },
    /// Slices failed a gate and will be measured again.
    Repeating {
        /// The cells.
        cells: Vec<CellId>,
    },
    /// The run continues without a service.
    GivenUp {
        /// Why.
        failure: String,
    },
    /// A note for the reader of the figures.
    Note(Note),
}
