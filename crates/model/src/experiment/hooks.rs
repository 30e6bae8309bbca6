//! Commands of the author's around the measuring.

use serde::{Deserialize, Serialize};

/// Commands that are run on this machine, word by word; an empty one is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hooks {
    /// Once, before anything is started.
    pub setup: Vec<String>,
    /// Before each round of deployments.
    pub prepare: Vec<String>,
    /// Once at the end, whatever the end is.
    pub cleanup: Vec<String>,
}

impl Hooks {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Hooks::default()
    }
}
