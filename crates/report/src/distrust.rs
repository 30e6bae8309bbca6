//! What of a run can't be trusted, why, and what to do about it.

use loadline_model::gates::Gate;
use loadline_model::result::{Cell, Contrast, GateSummary, RunResult};

use crate::figures;
use crate::groups;
use crate::wording::sentence;
use crate::words::said;

/// More cells or loads than this are counted, not named.
const MOST_NAMED: usize = 4;

/// A sentence or two for each gate that doesn't hold; none when all do, and when there is nothing to distrust.
pub(crate) fn sentences(result: &RunResult) -> Vec<String> {
    let trust = &result.trust;
    if trust.trusted || result.slices.is_empty() {
        return Vec::new();
    }
    let failing: Vec<&GateSummary> = trust.gates.iter().filter(|gate| !gate.holds).collect();
    if failing.is_empty() {
        return vec![format!(
            "This run can't be trusted: {} of {} slices failed a gate.",
            figures::count(trust.slices_failed as u64),
            figures::count(trust.slices as u64)
        )];
    }
    let (everywhere, in_part): (Vec<_>, Vec<_>) =
        failing.into_iter().map(|gate| (scope(result, gate), gate)).partition(|(scope, _)| scope.is_none());
    let ordered = everywhere.into_iter().chain(in_part).enumerate();
    let told = ordered.map(|(index, (scope, gate))| {
        let lead = match (scope, index) {
            (Some(scope), _) => format!("{scope} can't be trusted"),
            (None, 0) => "This run can't be trusted".to_owned(),
            (None, _) => "Another reason".to_owned(),
        };
        format!(
            "{lead}: {}{}. {}",
            why(gate),
            extent(gate),
            sentence(said(&gate.remedy).trim_end_matches('.'))
        )
    });
    told.collect()
}

/// What the gate found, as a reason.
fn why(gate: &GateSummary) -> String {
    match gate.gate {
        Gate::Generator => "the generator had no time to spare".to_owned(),
        Gate::Stationary => format!("not {}", said(&gate.figure)),
        _ => said(&gate.figure).into_owned(),
    }
}

fn extent(gate: &GateSummary) -> String {
    let repeats = if gate.gate.is_disturbance() { ", repeats used up" } else { "" };
    match gate.failed {
        0 => String::new(),
        // Its figure counts warm-ups.
        _ if gate.gate == Gate::Stationary => String::new(),
        1 => format!(" (1 slice failed{repeats})"),
        failed => format!(" ({failed} slices failed{repeats})"),
    }
}

/// `Figures at 100/min and 500/min, and those of pod at 1000/min,`; none where no comparison is free of it.
fn scope(result: &RunResult, gate: &GateSummary) -> Option<String> {
    let is_free = |contrast: &&Contrast| !contrast.cells().any(|cell| gate.cells.contains(&cell));
    if gate.cells.is_empty() || !result.comparisons().any(|contrast| is_free(&contrast)) {
        return None;
    }
    let load = |cell: &Cell| groups::short_load_name(result, cell);
    let load_of = |contrast: &Contrast| result.cell(contrast.candidate).map(load);
    let free = groups::unique(result.comparisons().filter(is_free).filter_map(load_of));
    let failing = gate.cells.iter().filter_map(|cell| result.cell(*cell));
    let (of_loads, alone): (Vec<&Cell>, Vec<&Cell>) = failing.partition(|cell| !free.contains(&load(cell)));
    let loads = listed(groups::unique(of_loads.into_iter().map(load)), "loads");
    let cells = listed(alone.into_iter().map(|cell| groups::cell_name(result, cell)).collect(), "cells");
    match (loads, cells) {
        (Some(loads), Some(cells)) => Some(format!("Figures at {loads}, and those of {cells},")),
        (Some(loads), None) => Some(format!("Figures at {loads}")),
        (None, cells) => Some(format!("Figures of {}", cells.unwrap_or_default())),
    }
}

/// `a, b and c`, or how many there are of what.
fn listed(names: Vec<String>, what: &str) -> Option<String> {
    match &names[..] {
        [] => None,
        [name] => Some(name.clone()),
        [.., _] if names.len() > MOST_NAMED => Some(format!("{} {what} (in parentheses below)", names.len())),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
