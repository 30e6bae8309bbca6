//! Each twin against its baseline: both are the same, so what differs between them is noise, or a fault of the measurement.

use crate::contrasts::draft;
use crate::counted::Counted;
use crate::result::{Contrast, TwinDifference, Verdict};
use crate::verdicts::Draft;
use crate::{RunData, verdicts};

/// One contrast per load and baseline, and per top of a ladder. The tests are corrected over the primary metrics of all twins, and apart
/// from them over the others: with either family, a run without a fault has a difference with a probability of 2.5 % at most.
pub fn contrasts(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Contrast> {
    let noise = data.run.plan.noise_contrasts();
    let mut drafts: Vec<Draft> = noise
        .map(|planned| draft(data, counted, planned.baseline, planned.candidate, None, confidence))
        .collect();
    for primary in [true, false] {
        verdicts::judge(&mut drafts, confidence, |row| row.primary == primary);
    }
    drafts.into_iter().map(|draft| draft.contrast).collect()
}

/// The primary metrics in which a twin differs by more than the margin allows to call equivalent.
pub fn differences(noise: &[Contrast]) -> Vec<TwinDifference> {
    let rows = noise.iter().flat_map(|contrast| contrast.rows.iter().map(move |row| (contrast, row)));
    rows.filter(|(_, row)| row.primary && !matches!(row.verdict, Verdict::Equivalent | Verdict::Unresolved))
        .filter_map(|(contrast, row)| {
            Some(TwinDifference {
                baseline: contrast.baseline,
                twin: contrast.candidate,
                metric: row.label.trim().to_owned(),
                unit: row.unit,
                difference: row.difference,
                interval: row.interval?,
                p_holm: row.p_holm?,
            })
        })
        .collect()
}
