//! Claims: what somebody says of a platform, in a form that a run can judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::LoadId;

/// A claim about the difference between a platform and its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In its author's words.
    pub text: String,
    /// Platform that it is about; `None` is every one that is compared with another.
    pub platform: Option<String>,
    /// Platform that it is compared with; `None` is every one that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Service that it is about; `None` is any.
    pub service: Option<String>,
    /// The loads that it is about; none is all of them.
    pub loads: Vec<LoadId>,
    /// Id of the metric, one of [`CLAIM_METRICS`].
    pub metric: String,
    /// What it says.
    pub says: Says,
    /// The baseline's figure where it was published, the least and the most of its cells: in ns, or for [`CLAIM_COUNTS`] in the metric's
    /// own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<[f64; 2]>,
    /// Unit that times were published in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<TimeUnit>,
    /// Whether the run fails if it is refuted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must: bool,
}

/// A unit of time that figures are published in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

/// What a claim says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// The difference lies between these, in the metric's unit (ns).
    Difference {
        /// Least.
        from_ns: f64,
        /// Most.
        to_ns: f64,
    },
    /// The difference divided by the baseline's figure lies between these.
    Share {
        /// Least.
        from: f64,
        /// Most.
        to: f64,
    },
    /// Of the difference that another platform has to the baseline, this one lacks a share between these.
    Closes {
        /// The other platform's name.
        of: String,
        /// Least.
        from: f64,
        /// Most.
        to: f64,
    },
}

/// Metrics that claims are made about. Of [`CLAIM_COUNTS`] only shares can be claimed, the others are in ns.
pub const CLAIM_METRICS: [&str; 21] = [
    "response.mean",
    "response.p50",
    "response.p90",
    "response.p99",
    "response.p99.9",
    "service.mean",
    "service.p50",
    "service.p99",
    "cpu.service",
    "cpu.path",
    "cpu.run_queue_wait",
    "cpu.throttled",
    "softirqs",
    "switches",
    "memory.resident",
    "memory.peak",
    "rate.achieved",
    "start.answered",
    "warmup.time",
    "memory.idle",
    "image.size",
];

/// Those that are no times.
pub const CLAIM_COUNTS: [&str; 7] =
    ["softirqs", "switches", "memory.resident", "memory.peak", "rate.achieved", "memory.idle", "image.size"];

/// Those that are seen once a deployment, and of no slice.
pub const OF_DEPLOYMENTS: [&str; 4] = ["start.answered", "warmup.time", "memory.idle", "image.size"];
