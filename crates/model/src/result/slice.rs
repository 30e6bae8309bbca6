//! What was measured in a slice, and in all slices of a cell.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Statement;
use crate::gates::GateFailure;
use crate::histogram::decode_histogram;
use crate::{CellId, Observations};

/// One measured interval of a cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Cell measured.
    pub cell: CellId,
    /// Round of deployments.
    pub round: u32,
    /// Block within the round.
    pub block: u32,
    /// Position within the block.
    pub position: u32,
    /// 0, then 1, 2 … for repeats.
    pub attempt: u32,
    /// Whether its figures count: of each block at most one attempt does, and none of a block in which the machine was never quiet, if enough others
    /// were.
    pub counted: bool,
    /// Seconds since the start of the run; of several runs that are compared, as if each had gone on where the one before it ended.
    pub at_s: f64,
    /// Seconds since the start of its own run, where several are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_at_s: Option<f64>,
    /// Length, s.
    pub duration_s: f64,
    /// Requests that were due.
    pub due: u64,
    /// Requests answered.
    pub answered: u64,
    /// Errors by kind; statuses that were not expected by request, `GET /a: 401`.
    pub errors: BTreeMap<String, u64>,
    /// Answered requests a second.
    pub rate_per_second: f64,
    /// Mean response time, ns.
    pub response_mean_ns: f64,
    /// Quantiles of the response time, ns.
    pub response: Percentiles,
    /// Quantiles of the service time, ns.
    pub service: Percentiles,
    /// Quantiles of the send lag, ns.
    pub send_lag: Percentiles,
    /// What the machine and the service did.
    pub observations: Observations,
    /// Gates that failed, in sentences.
    pub failed_gates: Vec<Statement<GateFailure>>,
}

/// Quantiles of a histogram, ns; zero when it is empty.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest value.
    pub max: u64,
}

/// Merged histograms of a cell: base64 of HdrHistogram's V2 encoding, values in ns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Histograms {
    /// From the moment a request was due to its last byte.
    pub response: String,
    /// From the moment a request was written to its last byte.
    pub service: String,
    /// From the moment a request could have been written to when it was.
    pub send_lag: String,
    /// Quantiles of the same three.
    pub response_percentiles: Percentiles,
    /// See `response_percentiles`.
    pub service_percentiles: Percentiles,
    /// See `response_percentiles`.
    pub send_lag_percentiles: Percentiles,
}

impl Histograms {
    /// The response times; `None` where the document holds no histogram.
    pub fn response_times(&self) -> Option<Histogram<u64>> {
        decoded(&self.response)
    }

    /// The service times; `None` where the document holds no histogram.
    pub fn service_times(&self) -> Option<Histogram<u64>> {
        decoded(&self.service)
    }
}

fn decoded(text: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    decode_histogram(&bytes).ok()
}
