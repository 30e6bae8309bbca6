//! The requests of a mix one by one: each of a candidate against the same of the baseline.

use loadline_model::rows::SliceRow;

use crate::RunData;
use crate::contrasts::rows;
use crate::counted::Counted;
use crate::metrics;
use crate::result::{Contrast, RequestRows};
use crate::sample::Paired;
use crate::verdicts::{self, Draft};

/// Judges the requests of the contrasts whose cells have the same mix. Holm's correction covers all of a metric, of all contrasts and requests.
pub fn judge(data: &RunData, counted: &Counted<'_>, contrasts: &mut [Contrast], confidence: f64) {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut about: Vec<(usize, String)> = Vec::new();
    for (at, contrast) in contrasts.iter().enumerate() {
        let paired = Paired::new(counted, contrast.baseline, contrast.candidate, contrast.twin);
        for (number, request) in requests(&paired).into_iter().enumerate() {
            let (rows, evidence) = rows(data, &metrics::of_request(number), &paired, confidence);
            let Contrast { baseline, candidate, twin, .. } = *contrast;
            let alone = Contrast { baseline, candidate, twin, rows, by_request: Vec::new(), seen: None };
            drafts.push(Draft { contrast: alone, evidence });
            about.push((at, request));
        }
    }
    for metric in metrics::of_request(0) {
        verdicts::judge(&mut drafts, confidence, |row| row.metric == metric.id);
    }
    for (draft, (at, request)) in drafts.into_iter().zip(about) {
        contrasts[at].by_request.push(RequestRows { request, rows: draft.contrast.rows });
    }
}

/// The requests that all slices have in common; none where a slice has others, or does not tell its requests apart.
fn requests(paired: &Paired<'_>) -> Vec<String> {
    let mut slices = paired.all_slices();
    let names = |slice: &SliceRow| slice.by_request.iter().map(|times| times.request.clone()).collect();
    let first: Vec<String> = slices.next().map(names).unwrap_or_default();
    if slices.all(|slice| slice.by_request.iter().map(|times| &times.request).eq(&first)) {
        first
    } else {
        Vec::new()
    }
}
