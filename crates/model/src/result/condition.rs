//! Whether the conditions hold on which a run fails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClaimJudgement, ClaimResult, RunResult, Unit, Verdict};

/// A condition on which a run fails, and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionResult {
    /// In its author's words: `p99 slower by > 5%`.
    pub text: String,
    /// Id of the metric, `response.p99`.
    pub metric: String,
    /// Label of the metric, `response p99`.
    pub label: String,
    /// Unit of the metric.
    pub unit: Unit,
    /// What the candidate must not be.
    pub verdict: Verdict,
    /// By more than this: a share of the baseline where `is_share`, else in the metric's unit.
    pub by: f64,
    /// Whether amounts and figures are shares of the baseline (0.05 is 5 %).
    pub is_share: bool,
    /// Holds where one finding holds.
    pub judgement: ConditionJudgement,
    /// What was found, one per contrast in their order.
    pub findings: Vec<ConditionFinding>,
}

/// What was found of a condition in one contrast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionFinding {
    /// Index of the contrast; of a search, in `capacities.at_their_own`.
    pub contrast: usize,
    /// Candidate − baseline, a share of the baseline where the condition's amount is one; absent where it was not measured, and where the
    /// baseline is zero.
    pub found: Option<f64>,
    /// Its interval; absent when nothing can be claimed.
    pub interval: Option<[f64; 2]>,
    /// What follows.
    pub judgement: ConditionJudgement,
}

/// What a run says of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionJudgement {
    /// It holds: the whole interval lies beyond the amount.
    Holds,
    /// It does not hold: none of the interval lies beyond the amount.
    RuledOut,
    /// The interval is too wide to tell, or there is none.
    Open,
    /// What it is about was not measured.
    NotMeasured,
    /// It is about figures that cannot be trusted, and does not hold of the others.
    NotTrusted,
}

impl RunResult {
    /// Whether the run fails, although it was measured: a condition holds, or a claim that must hold is refuted. Figures that
    /// cannot be trusted say neither.
    pub fn fails(&self) -> bool {
        let holds = |condition: &ConditionResult| condition.judgement == ConditionJudgement::Holds;
        let is_refuted =
            |claim: &ClaimResult| claim.must && claim.trusted && claim.judgement == ClaimJudgement::Refuted;
        self.conditions.iter().any(holds) || self.claims.iter().any(is_refuted)
    }

    /// The conditions that could not be judged, because what they are about was not measured.
    pub fn unmeasured_conditions(&self) -> impl Iterator<Item = &ConditionResult> {
        self.conditions.iter().filter(|condition| condition.judgement == ConditionJudgement::NotMeasured)
    }
}
