//! A service compared with itself: all that differs is noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::Unit;

/// The noise of a service compared with a second deployment of itself, and what it says of other comparisons on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// What was measured.
    pub run: NoiseRun,
    /// One for each metric; the first is the median response time.
    pub rows: Vec<NoiseRow>,
    /// How alike slices near in time are, by their distance.
    pub correlation: Vec<Correlation>,
}

/// The run that the noise is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseRun {
    /// Named everything that the run created on the machine, all of which it removed.
    pub label: String,
    /// Service and platform, `orders on host`.
    pub site: String,
    /// The load in words.
    pub load: String,
    /// Deployments of the service, and as many of its twin.
    pub deployments: usize,
    /// Slices of each in a deployment, on average.
    pub blocks: f64,
    /// Length of a slice.
    pub slice_s: f64,
    /// From the first deployment to the end of the last.
    pub seconds: f64,
    /// The part of it in which nothing was measured: deploying, warming up, reading counters.
    pub overhead_seconds: f64,
    /// Slices that failed a gate.
    pub disturbed_slices: usize,
    /// All slices.
    pub slices: usize,
}

/// The noise of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseRow {
    /// `response.p50`, …
    pub metric: String,
    /// In words.
    pub label: String,
    /// Unit of the figures.
    pub unit: Unit,
    /// The service's figure.
    pub figure: f64,
    /// Half of the 95 % interval of the difference between the two, over the deployments of this run.
    pub half_width: f64,
    /// Variance of a block's difference within a deployment, in the unit squared.
    pub variance_within: f64,
    /// Variance of the difference between deployments beyond that, in the unit squared.
    pub variance_between: f64,
    /// The difference that can be told in so much time, the shortest first.
    pub resolution: Vec<Resolution>,
}

/// A difference that a comparison of two platforms, with a twin of the first, claims with 95 % power at the level of claims, 2 %. An estimate: it
/// supposes that the noise stays as it was, and that the other platform is as noisy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Wall time of the comparison, deployments and warm-ups included.
    pub minutes: u32,
    /// Deployments in that time.
    pub deployments: u32,
    /// Blocks in each.
    pub blocks: u32,
    /// The difference, in the row's unit.
    pub difference: f64,
}

/// How alike the medians of slices are that are so far apart in time. The slices of a pair are of different deployments, so that only
/// the machine makes them alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Correlation {
    /// Seconds from the middle of one slice to that of the other: at least this.
    pub from_s: f64,
    /// And less than this.
    pub to_s: f64,
    /// Spearman's rank correlation: 1 where they rise and fall together, 0 where they have nothing to do with each other.
    pub correlation: f64,
    /// Pairs that it is from.
    pub pairs: usize,
}
