//! What services may use, and whether a CPU limit held them back.

use loadline_model::result::{Cell, RunResult, Throttling};

use crate::figures::{self, count};
use crate::groups;

/// More cells than these are counted, not named: those that were throttled most come first.
const MOST_NAMED: usize = 5;

/// `limits: 0.3 CPUs and 512 MiB`, or `limits: 0.3 CPUs on small, 1 CPU on large` where they differ; `None` where there are none.
pub(crate) fn limits(result: &RunResult) -> Option<String> {
    let mut by_limits: Vec<(Option<String>, Vec<&str>)> = Vec::new();
    for cell in groups::asked_cells(result) {
        let text = figures::limits(cell.limits);
        let at = by_limits.iter().position(|(other, _)| *other == text).unwrap_or_else(|| {
            by_limits.push((text, Vec::new()));
            by_limits.len() - 1
        });
        let labels = &mut by_limits[at].1;
        if !labels.contains(&cell.label.as_str()) {
            labels.push(&cell.label);
        }
    }
    match &by_limits[..] {
        [] => None,
        [(text, _)] => text.as_ref().map(|text| format!("limits: {text}")),
        several => {
            let each = several.iter().map(|(text, labels)| {
                format!("{} on {}", text.as_deref().unwrap_or("none"), labels.join(" and "))
            });
            Some(format!("limits: {}", each.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// `Throttled by its CPU limit: pod in 7 of 12 periods (limit 0.3, 240 ms per second).`
pub(crate) fn sentence(result: &RunResult) -> Option<String> {
    let mut throttled: Vec<(&Cell, Throttling)> =
        result.cells.iter().filter_map(|cell| Some((cell, cell.throttling?))).collect();
    if throttled.is_empty() {
        return None;
    }
    throttled.sort_by(|(_, left), (_, right)| right.ns_per_second.total_cmp(&left.ns_per_second));
    let each = throttled.iter().take(MOST_NAMED).map(|(cell, found)| {
        let limit = cell.limits.cpus.map(|cpus| format!("limit {cpus}, ")).unwrap_or_default();
        format!(
            "{} in {} of {} periods ({limit}{:.0} ms per second)",
            groups::cell_name(result, cell),
            count(found.throttled_periods),
            count(found.periods),
            found.ns_per_second / 1e6,
        )
    });
    let mut pieces: Vec<String> = each.collect();
    if throttled.len() > MOST_NAMED {
        pieces.push(format!("and {} more", throttled.len() - MOST_NAMED));
    }
    Some(format!("Throttled by the CPU limit: {}.", pieces.join(", ")))
}
