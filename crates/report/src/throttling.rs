//! What services may use, and whether a CPU limit held them back.

use loadline_model::result::{Cell, RunResult, Throttling};

use crate::figures::{self, count};
use crate::groups;
use crate::sweeps;

/// More cells than these are counted, not named: those that were throttled most come first.
const MOST_NAMED: usize = 5;
/// Cells that were throttled for less than 1 ms per second are only counted.
const HARDLY_NS_PER_SECOND: f64 = 1e6;

/// Of 100 ms, which the kernel and Kubernetes use unless they are told otherwise.
const TEN_PERIODS_S: f64 = 1.0;

/// Limits, and the names of what has them.
type Limited<'a> = Vec<(Option<String>, Vec<&'a str>)>;

/// `limits: 0.3 CPUs and 512 MiB`, or `limits: 0.3 CPUs for small, 1 CPU for large` where they differ; `None` where there are none, or where
/// a table has a row for each.
pub(crate) fn limits(result: &RunResult) -> Option<String> {
    let names: [fn(&Cell) -> &str; 3] = [|cell| &cell.service, |cell| &cell.platform, |cell| &cell.label];
    // By service or platform, if that says it all.
    let is_clear = |limited: &Limited<'_>| {
        let named: Vec<&str> = limited.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        groups::unique(named.iter().copied()).len() == named.len()
    };
    let several = names.into_iter().map(|name| limited(result, name));
    let clearest = several.reduce(|first, next| if is_clear(&first) { first } else { next })?;
    match &clearest[..] {
        [] => None,
        [(text, _)] => text.as_ref().map(|text| format!("limits: {text}")),
        several => {
            let each = several.iter().map(|(text, names)| {
                format!("{} for {}", text.as_deref().unwrap_or("none"), names.join(" and "))
            });
            Some(format!("limits: {}", each.collect::<Vec<_>>().join(", ")))
        }
    }
}

fn limited(result: &RunResult, name: fn(&Cell) -> &str) -> Limited<'_> {
    let mut limited: Limited<'_> = Vec::new();
    for cell in groups::asked_cells(result) {
        let text = figures::limits(sweeps::fixed_limits(result, cell));
        let at = limited.iter().position(|(other, _)| *other == text).unwrap_or_else(|| {
            limited.push((text, Vec::new()));
            limited.len() - 1
        });
        if !limited[at].1.contains(&name(cell)) {
            limited[at].1.push(name(cell));
        }
    }
    limited
}

/// `Throttled by the CPU limit: pod in 7 of 12 periods (limit 0.3, 240 ms per second).`
pub(crate) fn sentence(result: &RunResult) -> Option<String> {
    let throttled = result.cells.iter().filter_map(|cell| Some((cell, cell.throttling?)));
    let (mut throttled, hardly): (Vec<(&Cell, Throttling)>, Vec<_>) =
        throttled.partition(|(_, found)| found.ns_per_second >= HARDLY_NS_PER_SECOND);
    let hardly = match hardly.len() {
        0 => None,
        1 => Some("1 cell for less than 1 ms per second".to_owned()),
        cells => Some(format!("{cells} cells for less than 1 ms per second")),
    };
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
        pieces.push(format!("{} more", throttled.len() - MOST_NAMED));
    }
    pieces.extend(hardly);
    let longest_s = result.plan.longest_slice_s.unwrap_or(result.plan.slice_s);
    let in_short = match longest_s < TEN_PERIODS_S && !throttled.is_empty() {
        true => {
            " Slices are shorter than ten periods of the limit: under a load that lasts it is throttled more (`plan: {slice: 1s}`)."
        }
        false => "",
    };
    (!pieces.is_empty()).then(|| format!("Throttled by the CPU limit: {}.{in_short}", pieces.join(", ")))
}
