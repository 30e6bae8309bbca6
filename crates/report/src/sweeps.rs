//! The figures of cells that differ in one number, a row for each: a table of every curve that is not a row of loads in another table.

use loadline_model::experiment::CAPACITY;
use loadline_model::metrics::{SERVICE_CPU, THROTTLED};
use loadline_model::platform::Limits;
use loadline_model::result::{Cell, Figure, RunResult, Sweep, Unit};

use crate::figures::Scale;
use crate::groups;
use crate::overview::OF_CLOSED_LOOPS;
use crate::shown::{RestsOn, Shown};

const INTERVALS: &str =
    "± half of the 95 % interval: Student's t over deployments, or over blocks with a single deployment.";
const INTERVALS_OF_SEARCHES: &str = "± half of the 95 % interval: of the capacity its own; of figures at the capacity Student's t over deployments, or over blocks with a single deployment.";

/// What the intervals are.
pub(crate) fn caption(result: &RunResult) -> &'static str {
    if result.capacities.is_some() { INTERVALS_OF_SEARCHES } else { INTERVALS }
}

/// What a row shows, where cells have it; the rate where it is not asked for.
const METRICS: [&str; 5] = [CAPACITY, groups::HEADLINE, "response.p99", SERVICE_CPU, THROTTLED];

/// The table of a sweep.
pub(crate) struct SweptTable {
    /// `orders on host, 2000/s Poisson, by CPU limit`
    pub title: String,
    /// The number, then the figures.
    pub headings: Vec<String>,
    pub rows: Vec<Vec<Shown>>,
}

/// One for each sweep that is shown.
pub(crate) fn tables(result: &RunResult) -> Vec<SweptTable> {
    shown(result).map(|sweep| table(result, sweep)).filter(|table| !table.rows.is_empty()).collect()
}

/// Whether every cell stands in one of the tables.
pub(crate) fn have_all(result: &RunResult) -> bool {
    let has = |cell: &Cell| shown(result).any(|sweep| sweep.points.iter().any(|point| point.cell == cell.id));
    groups::asked_cells(result).all(has)
}

/// The limits of a cell without that which a table has a row for each of.
pub(crate) fn fixed_limits(result: &RunResult, cell: &Cell) -> Limits {
    let is_over = |key: &str| {
        let of_key = shown(result).filter(|sweep| sweep.over == key);
        of_key.flat_map(|sweep| &sweep.points).any(|point| point.cell == cell.id)
    };
    Limits {
        cpus: cell.limits.cpus.filter(|_| !is_over("limits.cpu")),
        memory_bytes: cell.limits.memory_bytes.filter(|_| !is_over("limits.memory")),
    }
}

/// Where something is compared, loads stand below each other anyway.
fn shown(result: &RunResult) -> impl Iterator<Item = &Sweep> {
    let is_of_load = |sweep: &Sweep| ["rate", "connections"].contains(&sweep.over.as_str());
    result.sweeps.iter().filter(move |sweep| result.contrasts.is_empty() || !is_of_load(sweep))
}

fn table(result: &RunResult, sweep: &Sweep) -> SweptTable {
    let points: Vec<(f64, &Cell)> = sweep
        .points
        .iter()
        .filter_map(|point| Some((point.value, result.cell(point.cell)?)))
        .filter(|(_, cell)| cell.answered > 0)
        .collect();
    let is_closed = points.iter().any(|(_, cell)| cell.rate_per_second.is_none());
    let metrics = is_closed.then_some(OF_CLOSED_LOOPS).into_iter().chain(METRICS);
    let columns: Vec<(&str, Vec<Option<&Figure>>)> = metrics
        .filter_map(|metric| {
            let figures: Vec<Option<&Figure>> =
                points.iter().map(|(_, cell)| cell.figures.iter().find(|of| of.metric == metric)).collect();
            // A column of zeros is left out: nothing of the kind happened.
            let label = figures.iter().flatten().find(|figure| figure.value != 0.0)?.label.trim();
            Some((label, figures))
        })
        .collect();
    let title = format!("{}, by {}", sweep.label, sweep.name);
    let headings =
        std::iter::once(sweep.name.clone()).chain(columns.iter().map(|(label, _)| (*label).to_owned()));
    let row = |(at, (value, cell)): (usize, &(f64, &Cell))| {
        let figure = |of: &Figure| Shown::plain(text(of)).on(RestsOn::figure(cell, of));
        let figures = columns.iter().map(|(_, figures)| figures[at].map(figure).unwrap_or_default());
        std::iter::once(Shown::plain(number(*value, sweep.unit))).chain(figures).collect()
    };
    SweptTable { title, headings: headings.collect(), rows: points.iter().enumerate().map(row).collect() }
}

/// `61.2 µs ±0.6`
fn text(figure: &Figure) -> String {
    let scale = Scale::of(figure.unit, &[figure.value]);
    let shown = scale.figure(figure.value);
    match figure.t_interval.map(|[low, high]| (high - low) / 2.0) {
        Some(half_width) => format!("{shown} {}", scale.with_digits_for(half_width).bare_margin(half_width)),
        None => shown,
    }
}

fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => value.to_string(),
        unit => Scale::of(unit, &[value]).figure(value),
    }
}
