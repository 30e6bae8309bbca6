//! Metrics as they are named in one word: `p99`, `cpu.service`. What of a response time needs not be written.

use loadline_model::experiment::{CAPACITY, CLAIM_METRICS};

use crate::error::{Complaint, Place, SpecError, suggestion};

const RESPONSE: &str = "response.";

/// The id of the metric that a word names.
pub(super) fn metric_of(word: &str) -> Result<String, Complaint> {
    let known = CLAIM_METRICS.iter().find(|metric| **metric == word || short(metric) == word);
    known.map(|metric| (*metric).to_owned()).ok_or_else(|| {
        let names: Vec<&str> = CLAIM_METRICS.iter().map(|metric| short(metric)).collect();
        Complaint::new(format!("there is no metric `{word}`")).help(suggestion(word, &names))
    })
}

/// The id of the metric that a word names, or what a search finds.
pub(super) fn metric_or_capacity(word: &str) -> Result<String, Complaint> {
    if word == CAPACITY { Ok(word.to_owned()) } else { metric_of(word) }
}

/// The id of the metric that a word of the command line names.
///
/// # Errors
/// When there is no such metric.
pub fn metric(word: &str) -> Result<String, SpecError> {
    metric_or_capacity(word)
        .map_err(|complaint| SpecError::without_text(vec![complaint.at(&Place::CommandLine)]))
}

/// The shortest word for a metric.
pub(super) fn short(metric: &str) -> &str {
    metric.strip_prefix(RESPONSE).unwrap_or(metric)
}
