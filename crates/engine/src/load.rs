//! What load to offer: an arrival process at a rate, or a closed loop, and the requests it is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rate::Rate;

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Requests are due at times of their own, whatever the service does (open loop).
    Open {
        /// Mean rate of arrivals.
        rate: Rate,
        /// How the gaps between arrivals are distributed.
        arrivals: Arrivals,
    },
    /// Each connection sends its next request as soon as the last one is answered (closed loop).
    Closed,
}

/// The arrival process of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponential gaps: independent clients. The default, because that is what many users look like to a service.
    #[default]
    Poisson,
    /// Equal gaps.
    Uniform,
}

impl std::fmt::Display for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Load::Open { rate, arrivals: Arrivals::Poisson } => write!(f, "{rate} Poisson"),
            Load::Open { rate, arrivals: Arrivals::Uniform } => write!(f, "{rate} uniform"),
            Load::Closed => write!(f, "closed loop"),
        }
    }
}
