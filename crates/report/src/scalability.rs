//! How throughput grows with connections, in a sentence for each site.

use loadline_model::result::{Fitted, RunResult, Scalability, Unit};

use crate::figures::{self, Scale};

/// One sentence for each site that was measured in closed loops of enough sizes.
pub(crate) fn sentences(result: &RunResult) -> Vec<String> {
    result.scalability.iter().map(sentence).collect()
}

/// `orders on host follows the Universal Scalability Law: 21,300/s with one connection, contention 0.031 [0.029, 0.034], …`
fn sentence(of: &Scalability) -> String {
    let label = &of.label;
    if !of.holds {
        return format!(
            "{label} does not follow the Universal Scalability Law: it is off by up to {}.",
            figures::unsigned_percent(of.worst_error)
        );
    }
    let parameter = |fitted: &Fitted| {
        let scale = Scale::of(Unit::Count, &[fitted.value]);
        let interval = fitted.interval.map(|ends| format!(" {}", scale.range(ends))).unwrap_or_default();
        format!("{}{interval}", scale.figure(fitted.value))
    };
    let peak = match of.peak {
        Some(peak) => format!("throughput peaks at about {peak:.0} connections"),
        None => "more connections always give more".to_owned(),
    };
    format!(
        "{label} follows the Universal Scalability Law: {} with one connection, contention {}, crosstalk {}; {peak}.",
        figures::rate(of.one_per_second.value),
        parameter(&of.contention),
        parameter(&of.crosstalk)
    )
}
