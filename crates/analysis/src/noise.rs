//! Each twin against its baseline: both are the same, so what differs between them is noise, or a fault of the measurement.

use std::collections::BTreeSet;

use crate::contrasts::draft;
use crate::counted::Counted;
use crate::result::{Contrast, Row, TwinDifference, Verdict};
use crate::verdicts::Draft;
use crate::{RunData, metrics, verdicts};

/// One contrast per load and baseline, and per top of a ladder. The tests are corrected over the primary metrics of all twins, and apart
/// from them over the others of slices and over those of deployments: with each family, a run without a fault has a difference with a
/// probability of 2.5 % at most.
pub fn contrasts(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Contrast> {
    let (noise, metrics) = (data.run.plan.noise_contrasts(), metrics::of_run(data));
    let mut drafts: Vec<Draft> = noise
        .map(|planned| draft(data, counted, &metrics, planned.baseline, planned.candidate, None, confidence))
        .collect();
    let of_deployments: BTreeSet<&str> =
        metrics.iter().filter(|metric| metric.is_of_deployments()).map(|metric| &*metric.id).collect();
    let family = |row: &Row| (row.primary, of_deployments.contains(row.metric.as_str()));
    for of in [(true, false), (false, false), (false, true)] {
        verdicts::judge(&mut drafts, confidence, |row| family(row) == of);
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
