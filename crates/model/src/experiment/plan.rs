//! How much is measured, in which order.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::precision::{self, Precision};
use super::{Margin, Slices};

/// How much is measured, in which order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSpec {
    /// Length of a slice; of the shortest, where loads have slices of several lengths.
    pub slice: Duration,
    /// Blocks in each deployment: as many as the cell with the most slices has.
    pub blocks: u32,
    /// The slices of each load, unless all have `slice` and `blocks`; see [`PlanSpec::slices_of`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slices>,
    /// How often everything is deployed anew. With `until`, where to start from.
    pub deployments: u32,
    /// Seed of the order and the schedules.
    pub seed: u64,
    /// Go on deploying until the intervals of these metrics are narrow enough in every contrast.
    #[serde(deserialize_with = "precision::read")]
    pub until: Option<Vec<Precision>>,
    /// Begin no further deployment that would end after this time, as long as those before took.
    pub within: Option<Duration>,
    /// Whether the baseline is deployed a second time to see the noise.
    pub twin: bool,
    /// How cells share the machine.
    pub isolation: Isolation,
    /// How cells take turns.
    pub interleave: Interleave,
    /// Longest warm-up of a cell; zero: none, the first slice after a start is what is measured.
    pub warmup: Duration,
    /// How often the cells of a load are measured again in a disturbed block.
    pub repeats: u32,
    /// Differences within this are `equivalent`; `None`: [`Margin::DEFAULT`].
    pub margin: Option<Margin>,
    /// What happens when a service can't be deployed or dies.
    pub on_failure: OnFailure,
    /// Which node platforms of this machine are on.
    #[serde(default)]
    pub nodes: Nodes,
    /// How long each cell is profiled in each deployment, in a slice of its own; `None`: not at all.
    #[serde(default)]
    pub profile: Option<Duration>,
    /// How long it is watched in each deployment when each cell's service is held up, in a slice of its own; `None`: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tails: Option<Duration>,
}

impl PlanSpec {
    /// Whether services are measured without a warm-up.
    pub fn is_cold(&self) -> bool {
        self.warmup.is_zero()
    }
}

/// What is not chosen for an experiment; slices are chosen from its loads, and a seed is drawn.
impl Default for PlanSpec {
    fn default() -> PlanSpec {
        PlanSpec {
            slice: Duration::from_millis(100),
            blocks: 36,
            slices: Vec::new(),
            deployments: 8,
            seed: 7,
            until: None,
            within: None,
            twin: true,
            isolation: Isolation::default(),
            interleave: Interleave::default(),
            warmup: Duration::from_secs(30),
            repeats: 2,
            margin: None,
            on_failure: OnFailure::default(),
            nodes: Nodes::default(),
            profile: None,
            tails: None,
        }
    }
}

/// Which node `host` and `local` platforms are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nodes {
    /// All on this machine's own, as Docker and a cluster are: what one of them sets up there, the others have as well.
    #[default]
    Shared,
    /// Each on one of its own: a network namespace with a wire of its own to the client.
    Own,
}

/// How cells share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// All cells are deployed and warm at once.
    #[default]
    Shared,
    /// One platform's service is deployed at a time, for services too big to share the machine.
    Exclusive,
}

/// How cells take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interleave {
    /// By request where the cells' joint CPU use is a few percent and a slice would gather too little, by slice elsewhere.
    #[default]
    Auto,
    /// One cell at a time, seconds long.
    Slices,
    /// All cells side by side, request by request.
    Requests,
}

/// What happens when a service can't be deployed or dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The run ends; what was measured is kept and reported.
    #[default]
    End,
    /// The run goes on without that service on that platform.
    Continue,
}
