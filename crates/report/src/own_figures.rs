//! The figures of cells that are compared with nothing: of a service on one platform alone.

use loadline_model::result::{Cell, RunResult};

use crate::figures::Scale;
use crate::groups;
use crate::shown::{RestsOn, Shown};

pub(crate) const HEADING: &str = "Each figure with its 95 % interval: Student's t over deployments, or over blocks with a single deployment.";

/// Headings and rows, a row for each metric that a short table shows; none where something is compared.
pub(crate) fn table(result: &RunResult) -> Option<(Vec<String>, Vec<Vec<Shown>>)> {
    let cells: Vec<&Cell> = groups::asked_cells(result).filter(|cell| cell.answered > 0).collect();
    if !result.contrasts.is_empty() || cells.is_empty() {
        return None;
    }
    let primary = cells.iter().flat_map(|cell| &cell.figures).filter(|figure| figure.primary);
    let metrics = groups::unique(primary.map(|figure| (figure.metric.as_str(), figure.label.as_str())));
    let mut headings = vec![String::new()];
    for cell in &cells {
        headings.extend([groups::cell_name(result, cell), "95 % interval".to_owned()]);
    }
    let row = |(metric, label): (&str, &str)| {
        let figures = cells.iter().flat_map(|cell| figure(cell, metric).unwrap_or_default());
        [Shown::plain(label)].into_iter().chain(figures).collect()
    };
    Some((headings, metrics.into_iter().map(row).collect()))
}

/// The figure of a metric and its interval.
fn figure(cell: &Cell, metric: &str) -> Option<[Shown; 2]> {
    let figure = cell.figures.iter().find(|figure| figure.metric == metric)?;
    let half_width = figure.t_interval.map_or(0.0, |[low, high]| (high - low) / 2.0);
    let scale = Scale::of(figure.unit, &[figure.value]).with_uncertainty(half_width);
    let interval = figure.t_interval.map(|ends| scale.range(ends)).unwrap_or_default();
    let value = Shown::plain(scale.figure(figure.value)).on(RestsOn::figure(cell, figure));
    Some([value, Shown::plain(interval)])
}
