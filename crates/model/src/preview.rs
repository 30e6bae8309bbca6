//! What a run of an experiment would do and how long it would take, known without starting anything.

use serde::{Deserialize, Serialize};

use crate::ids::{CellId, SiteId};
use crate::load::ConnectionOptions;
use crate::plan::Role;

/// What a run would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// What is deployed each round, service and platform in words; by the ids of sites.
    pub sites: Vec<String>,
    /// What is measured, by the ids of cells.
    pub cells: Vec<PreviewCell>,
    /// Seed of the order and the schedules.
    pub seed: u64,
    /// The sites of the first stage in the order in which they are deployed.
    pub first_stage: Vec<SiteId>,
    /// Stages of a round of deployments: one, or as many as sites where one is deployed at a time.
    pub stages: usize,
    /// The turns of the first stage's first block, in order.
    pub first_block: Vec<PreviewTurn>,
    /// Whether the turns of several cells are a guess: they are taken side by side only if the machine turns out all but idle.
    pub side_by_side_if_idle: bool,
    /// How long it takes and where the time goes.
    pub time: TimeBudget,
}

/// A cell of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreviewCell {
    /// What it measures.
    pub site: SiteId,
    /// The load as text, `2000/s Poisson`.
    pub load: String,
    /// What the load is called, if it has a name.
    pub load_name: Option<String>,
    /// Connections kept open.
    pub connections: usize,
    /// Whether each request has a connection of its own.
    pub new_connections: bool,
    /// What sets its connections apart from the usual ones.
    #[serde(flatten)]
    pub options: ConnectionOptions,
    /// Its slices in each deployment, each in a block of its own.
    pub slices: u32,
    /// How long each is.
    pub slice_s: f64,
    /// What it is for.
    pub role: Role,
    /// The cells that it is compared with.
    pub against: Vec<CellId>,
}

/// A turn of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreviewTurn {
    /// The cells that are loaded at the same time.
    pub cells: Vec<CellId>,
    /// How long.
    pub seconds: f64,
}

/// Where the time of a run goes, s. What it takes to start and stop services is known once that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeBudget {
    /// Deployments; with `until` those that it starts from.
    pub deployments: u32,
    /// Blocks of a deployment.
    pub blocks: u32,
    /// All slices that are planned.
    pub slices_s: f64,
    /// All trials of a search, which has no planned slices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials_s: Option<Range>,
    /// All repeats of slices, if each is used.
    pub repeats_s: Range,
    /// All warm-ups: from cells that are warm at once to cells that never are.
    pub warm_ups_s: Range,
    /// All starts of services: no service may take longer to get ready.
    pub starts_s: Range,
    /// All profiled slices, repeats left out.
    pub profiles_s: f64,
    /// The sum of all this.
    pub total_s: Range,
    /// Time after which no further deployment would end.
    pub within_s: Option<f64>,
    /// Whether it goes on after the planned deployments until the figures are settled.
    pub open_ended: bool,
}

/// From the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}
