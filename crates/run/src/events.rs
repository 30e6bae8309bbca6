//! What a run says of itself while it goes on, for whoever shows progress.

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
    /// What takes long about a start, in half a sentence.
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
    /// A cell is warm, or its time for warming up is over.
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
    /// Every cell was measured once more.
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
    /// The run goes on without a service.
    GivenUp {
        /// Why.
        failure: String,
    },
    /// What a reader of the figures must know.
    Note(Note),
}
