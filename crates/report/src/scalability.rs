//! How throughput grows with connections, in a sentence for each site.

use loadline_model::result::{Fitted, RunResult, Scalability};

use crate::figures;

/// One sentence for each site that was measured in closed loops of enough sizes.
pub(crate) fn sentences(result: &RunResult) -> Vec<String> {
    result.scalability.iter().map(sentence).collect()
}

/// `orders on host scales by the Universal Scalability Law: 21,300/s with one connection, contention 3.1 % [2.9, 3.4] %, …`
fn sentence(of: &Scalability) -> String {
    let label = &of.label;
    if !of.holds {
        return format!(
            "{label} does not scale by the Universal Scalability Law: it misses a point by {}.",
            figures::unsigned_percent(of.worst_error)
        );
    }
    let share = |fitted: &Fitted| {
        let interval =
            fitted.interval.map(|ends| format!(" {}", figures::percent_range(ends))).unwrap_or_default();
        format!("{}{interval}", figures::unsigned_percent(fitted.value))
    };
    let peak = match of.peak {
        Some(peak) => format!("most with about {peak:.0} connections"),
        None => "more connections always give more".to_owned(),
    };
    format!(
        "{label} scales by the Universal Scalability Law: {} with one connection, contention {}, crosstalk {}; {peak}.",
        figures::rate(of.one_per_second.value),
        share(&of.contention),
        share(&of.crosstalk)
    )
}
