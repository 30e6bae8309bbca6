//! What of a run can't be trusted, why, and what to do about it.

use loadline_model::CellId;
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
            (Some(scope), _) => format!("Figures {scope} can't be trusted"),
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
    match gate.failed {
        // Its figure counts warm-ups.
        0 => String::new(),
        _ if gate.gate == Gate::Stationary => String::new(),
        1 => " (1 slice failed, repeats used up)".to_owned(),
        failed => format!(" ({failed} slices failed, repeats used up)"),
    }
}

/// `at 100/min and 500/min, and of pod at 1000/min`; none where no comparison is free of it.
fn scope(result: &RunResult, gate: &GateSummary) -> Option<String> {
    let is_free = |contrast: &&Contrast| !touches(result, contrast, &gate.cells);
    if gate.cells.is_empty() || !result.contrasts.iter().any(|contrast| is_free(&contrast)) {
        return None;
    }
    let load = |cell: &Cell| groups::short_load_name(result, cell);
    let load_of = |contrast: &Contrast| result.cell(contrast.candidate).map(load);
    let free = groups::unique(result.contrasts.iter().filter(is_free).filter_map(load_of));
    let failing = gate.cells.iter().filter_map(|cell| result.cell(*cell));
    let (of_loads, alone): (Vec<&Cell>, Vec<&Cell>) = failing.partition(|cell| !free.contains(&load(cell)));
    let loads = listed(groups::unique(of_loads.into_iter().map(load)), "loads");
    let cells = listed(alone.into_iter().map(|cell| groups::cell_name(result, cell)).collect(), "cells");
    let parts = [loads.map(|loads| format!("at {loads}")), cells.map(|cells| format!("of {cells}"))];
    Some(parts.into_iter().flatten().collect::<Vec<String>>().join(", and "))
}

/// Whether one of the cells is compared, or is the twin of what is.
fn touches(result: &RunResult, contrast: &Contrast, cells: &[CellId]) -> bool {
    let twins = result.noise.iter().filter(|noise| noise.baseline == contrast.baseline);
    let mut own =
        [contrast.baseline, contrast.candidate].into_iter().chain(twins.map(|noise| noise.candidate));
    own.any(|cell| cells.contains(&cell))
}

/// `a, b and c`, or how many there are of what.
fn listed(names: Vec<String>, what: &str) -> Option<String> {
    match &names[..] {
        [] => None,
        [name] => Some(name.clone()),
        [.., _] if names.len() > MOST_NAMED => Some(format!("{} {what}", names.len())),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
