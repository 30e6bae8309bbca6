//! The loads of an experiment.

use serde::{Deserialize, Serialize};

use crate::load::{Load, Reuse};

/// One load of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Arrival process and rate, or a closed loop.
    pub load: Load,
    /// Connections kept open by the client.
    pub connections: usize,
    /// How long each is used.
    #[serde(default)]
    pub reuse: Reuse,
}
