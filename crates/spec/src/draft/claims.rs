//! Claims as they were written.

use schemars::JsonSchema;

use super::{Located, Text};
use crate::error::Place;
use crate::texts;

/// What somebody says of the difference between a platform and the baseline.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Claim")]
pub struct ClaimDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// The claim in its author's words.
    #[schemars(required)]
    pub text: Option<Text>,
    /// Which cells it is about.
    #[schemars(rename = "where")]
    pub cells: Option<WhereDraft>,
    /// What is measured: response.mean, response.p99, cpu_per_request …
    #[schemars(required)]
    pub metric: Option<Text>,
    /// The difference to the baseline: 4.5ms, 26%, or a range, 26%..37%. A single value is a claim of about that much, a fifth more or
    /// less; `negligible` is a claim of less than 5 %, `negligible 2%` of less than 2 %.
    pub difference: Option<Text>,
    /// The part of another platform's difference that this platform's lacks: `60% of nodePort`.
    pub closes: Option<Text>,
}

/// Which cells a claim is about; what is left out is any.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Where")]
pub struct WhereDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// Name of the platform.
    pub platform: Option<Text>,
    /// Name of the service.
    pub service: Option<Text>,
    /// Rates, as they are among the loads: 100/min, or a list.
    #[schemars(with = "Option<texts::RateTexts>")]
    pub rate: Option<Located<Vec<Text>>>,
    /// The closed loops, where the service is as busy as it can be.
    #[schemars(with = "Option<bool>")]
    pub closed: Option<Text>,
}
