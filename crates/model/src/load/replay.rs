//! Due times that were written down: a recorded or made-up arrival process, replayed to the nanosecond.

mod read;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use read::{ReplayError, parse_replay};

use super::{Nanos, nanos};

/// Due times that were written down. Cheap to clone: the times are shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The file they came from.
    path: PathBuf,
    /// How many there are.
    count: u64,
    /// Ascending. Not part of a stored load: a replay that was read back from a store says what it was, and to be driven
    /// again it is read from its file. [`LoadDescription`](super::LoadDescription) carries them.
    #[serde(skip)]
    times: Arc<[Nanos]>,
}

impl Replay {
    /// Due times, ascending, and the file that they came from.
    pub fn new(path: PathBuf, times: Vec<Nanos>) -> Replay {
        Replay { path, count: times.len() as u64, times: times.into() }
    }

    /// The file that the times came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many due times there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them are due in a slice of this duration.
    pub fn count_before(&self, duration: Duration) -> usize {
        let end = nanos(duration);
        self.times.partition_point(|time| *time < end)
    }

    /// The shortest slice in which every request is due: a ns more than the last time.
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.times.last().map_or(0, |last| last.saturating_add(1)))
    }

    /// The same replay with these due times; `None` if they are not as many as it has.
    pub fn with_times(&self, times: Vec<Nanos>) -> Option<Replay> {
        (times.len() as u64 == self.count).then(|| Replay { times: times.into(), ..self.clone() })
    }

    /// Whether both are replays of the same file, whether or not their times are at hand.
    pub fn is_of_same_file(&self, other: &Replay) -> bool {
        (&self.path, self.count) == (&other.path, other.count)
    }

    /// The due times themselves.
    pub fn times(&self) -> Arc<[Nanos]> {
        self.times.clone()
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replay of {} ({} requests)", self.path.display(), self.count)
    }
}
