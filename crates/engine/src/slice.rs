//! What one slice is asked to be.

use std::time::Duration;

use loadline_model::load::Load;
use serde::{Deserialize, Serialize};

/// The machine is watched for so long after the last request was due, and no longer: a response that takes far longer must not make it more
/// likely that something disturbs its slice.
pub const WATCHED_AFTER_END: Duration = Duration::from_millis(10);

/// One slice to drive. Of a load that is replayed from a file the due times are not serialised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceSpec {
    /// When requests are due, or a closed loop.
    pub load: Load,
    /// How long requests are begun; those under way at the end are waited for.
    pub duration: Duration,
    /// Seed of the schedule.
    pub seed: u64,
    /// By how much the schedule is moved, for cells that run side by side.
    pub offset: Duration,
}
