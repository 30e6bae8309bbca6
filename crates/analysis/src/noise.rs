//! The twin against its baseline: what differs between two deployments of the same thing is noise.

use loadline_model::plan::Role;

use crate::RunData;
use crate::contrasts::contrast;
use crate::result::Contrast;
use crate::sample::Counted;

/// One contrast per load, and per top of a ladder. They have no resolution of their own, and take no part in Holm's correction: nobody plans a migration
/// by them.
pub fn contrasts(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Contrast> {
    let twins = data.run.plan.cells_as(Role::Twin);
    twins
        .filter_map(|(cell, plan)| Some(contrast(data, counted, plan.against?, cell, confidence, &|_| None)))
        .collect()
}
