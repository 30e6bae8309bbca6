//! Which contrasts share a table: those with the same baseline, and so the same load. Also the names by which a reader
//! tells cells and loads apart.

use loadline_model::result::{Cell, Contrast, Role, Row, RunResult};

use crate::figures::Scale;

/// Metric that the question is answered with.
pub(crate) const HEADLINE: &str = "response.p50";

/// Contrasts with one baseline.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// What they are compared with.
    pub baseline: &'a Cell,
    /// Never empty; each with its candidate.
    pub contrasts: Vec<(&'a Cell, &'a Contrast)>,
}

impl<'a> Group<'a> {
    /// The primary metrics of the group in order, each with its row per candidate; a candidate may lack one.
    pub fn metrics(&self) -> Vec<Vec<Option<&'a Row>>> {
        let mut metrics: Vec<&str> = Vec::new();
        for row in self.contrasts.iter().flat_map(|(_, contrast)| &contrast.rows).filter(|row| row.primary) {
            if !metrics.contains(&row.metric.as_str()) {
                metrics.push(&row.metric);
            }
        }
        metrics
            .iter()
            .map(|metric| self.contrasts.iter().map(|(_, contrast)| row_of(contrast, metric)).collect())
            .collect()
    }
}

/// The contrasts in the order of the experiment, one group per baseline cell.
pub(crate) fn groups(result: &RunResult) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for contrast in &result.contrasts {
        // Cells are named by index; a document that names one it doesn't hold has nothing to show for it.
        let (Some(baseline), Some(candidate)) =
            (result.cell(contrast.baseline), result.cell(contrast.candidate))
        else {
            continue;
        };
        match groups.iter_mut().find(|group| group.baseline.id == baseline.id) {
            Some(group) => group.contrasts.push((candidate, contrast)),
            None => groups.push(Group { baseline, contrasts: vec![(candidate, contrast)] }),
        }
    }
    groups
}

/// Whether all that is compared is compared with what anybody expects: other platforms with the first, other services with the first. A
/// ladder compares each rung with the one below it, and says so in its own way.
pub(crate) fn compares_with_the_first(result: &RunResult) -> bool {
    let mut cells = asked_cells(result);
    let Some(first) = cells.next() else { return true };
    let is_usual = |candidate: &Cell, baseline: &Cell| {
        let platform = candidate.platform != first.platform && baseline.platform == first.platform;
        let service = candidate.service != first.service && baseline.service == first.service;
        match candidate.platform == baseline.platform {
            true => service && candidate.platform == first.platform,
            false => platform && candidate.service == baseline.service,
        }
    };
    !result.ladders.is_empty()
        || groups(result)
            .iter()
            .all(|group| group.contrasts.iter().all(|(candidate, _)| is_usual(candidate, group.baseline)))
}

/// The name of a candidate, with what it is compared with where that isn't the usual.
pub(crate) fn contrast_name(result: &RunResult, candidate: &Cell, baseline: &Cell) -> String {
    if compares_with_the_first(result) {
        return cell_name(result, candidate);
    }
    let load = match loads(result).len() > 1 {
        true => format!(" at {}", short_load_name(result, candidate)),
        false => String::new(),
    };
    format!("{} against {}{load}", candidate.label, baseline.label)
}

/// The row of a metric.
pub(crate) fn row_of<'a>(contrast: &'a Contrast, metric: &str) -> Option<&'a Row> {
    contrast.rows.iter().find(|row| row.metric == metric)
}

/// The unit and precision that these rows of one metric share.
pub(crate) fn scale_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<Scale> {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let unit = rows.first()?.unit;
    let figures: Vec<f64> = rows.iter().flat_map(|row| [row.baseline, row.candidate]).collect();
    let narrowest = rows
        .iter()
        .filter_map(|row| row.interval.map(|[low, high]| (high - low) / 2.0))
        .min_by(f64::total_cmp)
        .unwrap_or(0.0);
    Some(Scale::of(unit, &figures).with_uncertainty(narrowest))
}

/// `2000/s Poisson, 16 connections`
pub(crate) fn load_name(cell: &Cell) -> String {
    cell.options.of_load(&cell.load, cell.new_connections, cell.connections)
}

/// The loads of the run, in order.
pub(crate) fn loads(result: &RunResult) -> Vec<String> {
    unique(result.cells.iter().map(load_name))
}

/// All loads in one line: `100/min, 2000/s Poisson, 100 connections`.
pub(crate) fn all_loads(result: &RunResult) -> String {
    let loads = loads(result);
    let (start, end) = (common_start(&loads), common_end(result).filter(|_| loads.len() > 1));
    if start.is_empty() && end.is_none() {
        return loads.join("; ");
    }
    let short = unique(result.cells.iter().map(|cell| short_load_name(result, cell)));
    format!("{start}{}{}", short.join(", "), end.unwrap_or_default())
}

/// The load as short as it stays clear: without what all loads begin with, and what they end with, arrivals and connections.
pub(crate) fn short_load_name(result: &RunResult, cell: &Cell) -> String {
    let (name, end) = (load_name(cell), common_end(result).unwrap_or_default());
    let name = name.strip_prefix(common_start(&loads(result))).unwrap_or(&name);
    name.strip_suffix(&end).unwrap_or(name).to_owned()
}

/// `closed loop, ` of loads that are all closed loops, and differ only in their connections.
fn common_start(loads: &[String]) -> &'static str {
    const CLOSED: &str = "closed loop, ";
    let is_closed = |load: &String| load.strip_prefix(CLOSED).is_some_and(|rest| !rest.contains(", "));
    if loads.len() > 1 && loads.iter().all(is_closed) { CLOSED } else { "" }
}

/// What the names of all loads end with, if they still differ without it: ` Poisson, 100 connections`.
fn common_end(result: &RunResult) -> Option<String> {
    let loads = loads(result);
    let first = loads.first()?;
    let mut ends = first.char_indices().filter(|(_, c)| matches!(c, ' ' | ',')).map(|(at, _)| &first[at..]);
    // A number stays with what it counts.
    let is_common =
        |end: &&str| !end.starts_with(" connection") && loads.iter().all(|load| load.ends_with(end));
    let common = ends.find(is_common)?;
    let differ = unique(loads.iter().map(|load| load.strip_suffix(common))).len() == loads.len();
    differ.then(|| common.to_owned())
}

/// The name of a cell, with its load when there are several.
pub(crate) fn cell_name(result: &RunResult, cell: &Cell) -> String {
    if loads(result).len() > 1 {
        format!("{} at {}", cell.label, short_load_name(result, cell))
    } else {
        cell.label.clone()
    }
}

/// The cells that a reader asked for: all but the twins.
pub(crate) fn asked_cells(result: &RunResult) -> impl Iterator<Item = &Cell> {
    result.cells.iter().filter(|cell| cell.role != Role::Twin)
}

/// Each once, in order of first appearance.
pub(crate) fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
