//! The loads of an experiment.

use serde::{Deserialize, Serialize};

use crate::load::{Load, Reuse};

/// One load of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// What cells and contrasts call it; unique among the loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Arrival process and rate, or a closed loop.
    pub load: Load,
    /// Connections kept open by the client.
    pub connections: usize,
    /// How long each is used.
    #[serde(default)]
    pub reuse: Reuse,
}
