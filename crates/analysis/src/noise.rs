//! Each twin against its baseline: what differs between two deployments of the same thing is noise.

use crate::RunData;
use crate::contrasts::contrast;
use crate::result::Contrast;
use crate::sample::Counted;

/// One contrast per load and baseline, and per top of a ladder. They have no resolution of their own, and take no part in Holm's correction: nobody plans a migration
/// by them.
pub fn contrasts(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Contrast> {
    let noise = data.run.plan.noise_contrasts();
    noise
        .map(|planned| contrast(data, counted, planned.baseline, planned.candidate, confidence, &|_| None))
        .collect()
}
