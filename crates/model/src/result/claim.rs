//! What a run says of each claim of its experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Remark, Statement, Unit};
use crate::experiment::TimeUnit;
use crate::ids::CellId;

/// A claim and what this run says of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResult {
    /// In its author's words.
    pub text: String,
    /// Label of the metric, `response mean`.
    pub metric: String,
    /// Unit of the metric.
    #[serde(default = "nanoseconds")]
    pub metric_unit: Unit,
    /// Unit that times were published in, where the experiment says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_in: Option<TimeUnit>,
    /// The baseline's figure where it was published, least and most, in the unit of the metric; absent where the experiment does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_baseline: Option<[f64; 2]>,
    /// Confirmed where every finding confirms it, refuted where one refutes it.
    pub judgement: ClaimJudgement,
    /// Whether what decides the judgement can be trusted; otherwise it says nothing, and reports show it in parentheses.
    #[serde(default)]
    pub trusted: bool,
    /// Whether the run fails if it is refuted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must: bool,
    /// What was found, one per cell that it is about.
    pub findings: Vec<Finding>,
}

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimJudgement {
    /// The whole interval lies within what is claimed.
    Confirmed,
    /// None of the interval does.
    Refuted,
    /// The interval is too wide to tell, or there is none.
    OutOfReach,
    /// It is a share, and the baseline here is more than twice, or less than half, what was published.
    NotComparable,
}

fn nanoseconds() -> Unit {
    Unit::Nanoseconds
}

/// What was found in one cell, or in one of its contrasts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Index of the cell.
    pub cell: CellId,
    /// Index of the cell that it is compared with, if it is compared with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<CellId>,
    /// What is compared: ns, or a share where `is_share`.
    pub claimed: [f64; 2],
    /// Whether figures are shares (0.26 is 26 %) and not ns.
    pub is_share: bool,
    /// The same figure in this run; absent when it can't be computed.
    pub found: Option<f64>,
    /// Its interval; absent when nothing can be claimed.
    pub interval: Option<[f64; 2]>,
    /// The baseline's figure in this run, in the unit of the metric, where the published one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<f64>,
    /// p-value of "the figure lies within what is claimed", Holm-corrected over the findings of the claim; absent without an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// Whether the figures that are compared can be trusted.
    #[serde(default)]
    pub trusted: bool,
    /// Why there is no figure, if there is a reason worth telling.
    pub note: Option<Statement<Remark>>,
    /// What follows.
    pub judgement: ClaimJudgement,
}
