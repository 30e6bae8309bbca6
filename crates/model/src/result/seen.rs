//! What the profiler saw of a cell, and how two cells differ in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Estimate;

/// What the profiler saw of a cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// Requests in the profiled slices.
    pub requests: u64,
    /// Samples, of all CPUs.
    pub samples: u64,
    /// Samples for which there was no room.
    pub lost: u64,
    /// CPU time per request by layer of the kernel, with `user: service`, `user: load` and `unknown`, ns.
    pub cpu_ns_by_layer: BTreeMap<String, f64>,
    /// Part of the kernel's time in which no function was recognised.
    pub unknown_share: f64,
    /// Those functions and their part of it, the costliest first.
    pub unknown: Vec<UnknownFunction>,
    /// Why network soft interrupts were raised; empty where that may not be asked.
    pub softirqs: Vec<SoftirqReason>,
}

/// A function of the kernel that belongs to no layer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnknownFunction {
    /// Its name.
    pub function: String,
    /// Its part of the time without a layer.
    pub share: f64,
}

/// A reason for soft interrupts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SoftirqReason {
    /// `NET_RX` or `NET_TX`.
    pub vector: String,
    /// The innermost function outside the raising itself: `veth_xmit`.
    pub function: String,
    /// Its layer.
    pub layer: Option<String>,
    /// Raises per request.
    pub per_request: f64,
}

/// What the profiler saw of a cell, less what it saw of its baseline.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeenDifference {
    /// CPU time per request, ns: the mean over deployments with Student's t interval.
    pub total: Estimate,
    /// Whether this and the contrast's difference of `cpu.path` are the same within a margin: 10 % of the difference, because sampling delays
    /// what it watches, or the contrast's own margin if that is larger. `None` where the run cannot tell, and with fewer than four profiled
    /// deployments.
    pub agrees: Option<bool>,
    /// By layer, the largest difference first.
    pub layers: Vec<SeenLayer>,
}

/// A layer's part of what was seen.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeenLayer {
    /// Its name.
    pub layer: String,
    /// CPU time per request, ns.
    pub difference: Estimate,
}
