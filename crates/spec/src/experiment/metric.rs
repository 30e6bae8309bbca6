//! Metrics as they are named in one word: `p99`, `cpu.service`. What of a response time needs not be written.

use loadline_model::experiment::{CAPACITY, CLAIM_METRICS, ERRORS};

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

/// The id of a metric, which may be one that only its probe knows: one with a namespace in front.
pub(super) fn any_metric_of(word: &str) -> Result<String, Complaint> {
    let may_be_there = word == ERRORS || has_namespace(word);
    metric_of(word).or_else(|complaint| if may_be_there { Ok(word.to_owned()) } else { Err(complaint) })
}

/// `jvm.heap.used`
fn has_namespace(word: &str) -> bool {
    let is_name = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty()
            && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    word.contains('.') && word.split('.').all(is_name)
}

/// The id of the metric that a word of the command line names, or what a search finds; whether stored runs have it, they must tell.
///
/// # Errors
/// When there is no such metric.
pub fn metric(word: &str) -> Result<String, SpecError> {
    let id = if word == CAPACITY { Ok(word.to_owned()) } else { any_metric_of(word) };
    id.map_err(on_command_line)
}

/// A word of the command line that names a metric that none of the stored runs has; they have `known`.
pub fn unknown_metric<'a>(word: &str, known: impl IntoIterator<Item = &'a String>) -> SpecError {
    let names: Vec<&str> = known.into_iter().map(|metric| short(metric)).collect();
    let complaint = Complaint::new(format!("none of the runs has the metric `{word}`"));
    on_command_line(complaint.help(suggestion(word, &names)))
}

fn on_command_line(complaint: Complaint) -> SpecError {
    SpecError::without_text(vec![complaint.at(&Place::CommandLine)])
}

/// The shortest word for a metric.
pub(super) fn short(metric: &str) -> &str {
    metric.strip_prefix(RESPONSE).unwrap_or(metric)
}
