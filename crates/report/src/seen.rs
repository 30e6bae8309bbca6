//! What the profiler saw of cells that are compared, beside what their differences say: two answers to one question.

use loadline_model::result::{Cell, Contrast, Estimate, RunResult, Seen, SeenDifference, Unit};

use crate::figures::{self, Scale};
use crate::groups;

/// The heading of the table.
pub(crate) const HEADING: &str =
    "Seen in the kernel: CPU per request of both ends, by the difference of slices and by sampling.";

/// Layers that a row names.
const NAMED: usize = 4;
/// Parts smaller than this share of a request's CPU time are not worth a name.
const LEAST_SHARE: f64 = 0.002;

/// Headings and rows; empty where nothing was profiled. `contrasts` are those that `bottom` is the first baseline of.
pub(crate) fn table<'a>(
    result: &RunResult,
    bottom: &Cell,
    contrasts: impl IntoIterator<Item = &'a Contrast>,
) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let Some(seen) = &bottom.seen else { return Default::default() };
    let total: f64 = seen.cpu_ns_by_layer.values().sum();
    let scale = Scale::of(Unit::Nanoseconds, &[total]).with_uncertainty(total * 2e-3);
    let measured = bottom.figures.iter().find(|figure| figure.metric == "cpu.path");
    let mut rows = vec![vec![
        bottom.label.clone(),
        measured.map(|figure| scale.figure(figure.value)).unwrap_or_default(),
        scale.figure(total),
        String::new(),
        largest(seen.cpu_ns_by_layer.iter().map(|(layer, ns)| (layer.as_str(), *ns)), &scale, total, true),
    ]];
    for contrast in contrasts {
        let (Some(cell), Some(by_sampling)) = (result.cell(contrast.candidate), &contrast.seen) else {
            continue;
        };
        let by_difference = groups::row_of(contrast, "cpu.path")
            .map(|row| spread(&Estimate { value: row.difference, interval: row.interval }, &scale));
        let resolved = by_sampling.layers.iter().filter(|layer| is_resolved(&layer.difference));
        let layers = resolved.map(|layer| (layer.layer.as_str(), layer.difference.value));
        rows.push(vec![
            format!("+ {}", cell.label),
            by_difference.unwrap_or_default(),
            spread(&by_sampling.total, &scale),
            agreement(by_sampling),
            largest(layers, &scale, total, false),
        ]);
    }
    (vec!["", "by difference", "by sampling", "", "where"], rows)
}

/// What raised network soft interrupts, in one sentence; cells with the same reasons stand together.
pub(crate) fn softirqs<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Option<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (cell, seen) in cells.into_iter().filter_map(|cell| Some((cell, cell.seen.as_ref()?))) {
        let raised = raised(seen);
        match groups.iter_mut().find(|(other, _)| *other == raised) {
            Some((_, labels)) => labels.push(&cell.label),
            None => groups.push((raised, vec![&cell.label])),
        }
    }
    groups.retain(|(raised, _)| !raised.is_empty());
    let sentences: Vec<String> =
        groups.iter().map(|(raised, labels)| format!("{raised} ({})", labels.join(", "))).collect();
    (!sentences.is_empty()).then(|| format!("Softirqs raised per request: {}.", sentences.join("; ")))
}

/// How much of the kernel's time has no layer, and in which functions.
pub(crate) fn unknown(result: &RunResult) -> Option<String> {
    let seen: Vec<&Seen> = result.cells.iter().filter_map(|cell| cell.seen.as_ref()).collect();
    let worst = seen.iter().max_by(|left, right| left.unknown_share.total_cmp(&right.unknown_share))?;
    let names: Vec<&str> =
        worst.unknown.iter().take(NAMED).map(|unknown| unknown.function.as_str()).collect();
    let named = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let samples: u64 = seen.iter().map(|seen| seen.samples).sum();
    let lost: u64 = seen.iter().map(|seen| seen.lost).sum();
    Some(format!(
        "Samples: {}, {} lost; kernel time without a layer: at most {} of a cell{named}.",
        figures::count(samples),
        figures::count(lost),
        figures::unsigned_percent(worst.unknown_share)
    ))
}

fn agreement(seen: &SeenDifference) -> String {
    match seen.agrees {
        Some(true) => "agree",
        Some(false) => "disagree",
        None => "?",
    }
    .to_owned()
}

/// Whether a difference is told from none. Of a single deployment nothing can be told, and everything is shown.
fn is_resolved(difference: &Estimate) -> bool {
    difference.interval.is_none_or(|[low, high]| low > 0.0 || high < 0.0)
}

fn spread(estimate: &Estimate, scale: &Scale) -> String {
    let value = scale.bare_difference(estimate.value);
    match estimate.interval {
        Some([low, high]) => format!("{value} {}", scale.bare_margin((high - low) / 2.0)),
        None => value,
    }
}

/// `veth 0.7, softirq dispatch 0.6`, the largest first whatever their sign.
fn largest<'a>(
    layers: impl Iterator<Item = (&'a str, f64)>,
    scale: &Scale,
    total: f64,
    absolute: bool,
) -> String {
    let mut layers: Vec<(&str, f64)> = layers.filter(|(_, ns)| ns.abs() >= LEAST_SHARE * total).collect();
    layers.sort_by(|left, right| right.1.abs().total_cmp(&left.1.abs()));
    let shown = |ns: f64| {
        let text = scale.bare_difference(ns);
        if absolute { text.trim_start_matches('+').to_owned() } else { text }
    };
    layers
        .iter()
        .take(NAMED)
        .map(|(layer, ns)| format!("{} {}", layer.replace('-', " "), shown(*ns)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `veth_xmit 2.0`: what raised network soft interrupts, per request.
fn raised(seen: &Seen) -> String {
    let reasons = seen.softirqs.iter().take(NAMED);
    reasons
        .map(|reason| format!("{} {:.1}", reason.function, reason.per_request))
        .collect::<Vec<_>>()
        .join(", ")
}
