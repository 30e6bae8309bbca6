//! A metric over stored runs: the figure of each cell in each run, in series of the same cell on machines that are alike, and where these changed.

use loadline_model::Machine;
use loadline_model::result::history::{Change, HISTORY_SCHEMA, History, LeftOut, Point, Series};
use loadline_model::rows::RunData;
use loadline_model::{CellId, RunState};
use loadline_stats::{LEAST_SIDE, Weighted, change_points};

use crate::cells::{figure, label};
use crate::counted::{self, Counted};
use crate::median::median;
use crate::metrics;

/// A series is judged with this many points.
const LEAST_POINTS: usize = 2 * LEAST_SIDE;
/// A change is settled with this many points after it.
const SETTLED: usize = LEAST_SIDE + 2;
/// No run weighs more than so many usual ones: an interval may be narrow by chance.
const MOST_WEIGHT: f64 = 4.0;
/// The median of a squared standard normal number.
const CHI_SQUARED_MEDIAN: f64 = 0.455;
/// Of the random orders: the same series has the same changes.
const SEED: u64 = 7;

/// Gathers the history of a metric, run by run.
pub struct Chronicle {
    history: History,
}

impl Chronicle {
    /// Of no run yet.
    pub fn new(metric: &str) -> Chronicle {
        let (schema, metric) = (HISTORY_SCHEMA.to_owned(), metric.to_owned());
        Chronicle { history: History { schema, metric, series: Vec::new(), left_out: Vec::new() } }
    }

    /// Adds a run, after all that were made before it.
    pub fn add(&mut self, data: &RunData) {
        let leave_out = |reason: &str| LeftOut { run: data.run.id, reason: reason.to_owned() };
        if data.run.state != RunState::Complete {
            self.history.left_out.push(leave_out("it was not completed"));
            return;
        }
        if data.run.experiment.capacity.is_some() {
            self.history.left_out.push(leave_out("it searched for a capacity"));
            return;
        }
        let counted = counted::counted(&data.run, &data.slices);
        let asked = data.run.plan.cell_ids().filter(|cell| !data.run.plan.site_of(*cell).twin);
        let mut found = false;
        for cell in asked.collect::<Vec<CellId>>() {
            found |= self.add_cell(data, &counted, cell);
        }
        if !found {
            self.history.left_out.push(leave_out("it does not have this metric"));
        }
    }

    fn add_cell(&mut self, data: &RunData, counted: &Counted<'_>, cell: CellId) -> bool {
        let metrics = metrics::of_run(&data.run);
        let Some(metric) = metrics.iter().find(|metric| metric.id == self.history.metric) else {
            return false;
        };
        let Some(found) = figure(counted, cell, metric) else { return false };
        let (experiment, plan) = (&data.run.experiment, &data.run.plan);
        let load = experiment.load(plan.load_of(cell));
        let site = plan.site_of(cell);
        let label = match experiment.services.len() > 1 && experiment.platforms.len() > 1 {
            true => label(experiment, site),
            false => site.label(experiment),
        };
        let load = format!("{}, {} connections", load.load, load.connections);
        let machine = fingerprint(&data.run.machine);
        let point = Point {
            run: data.run.id,
            started: data.run.started.clone(),
            value: found.value,
            interval: found.t_interval,
        };
        let is_of = |series: &&mut Series| {
            (&series.label, &series.load, &series.machine) == (&label, &load, &machine)
        };
        match self.history.series.iter_mut().find(is_of) {
            Some(series) => series.points.push(point),
            None => {
                let (points, changes) = (vec![point], Vec::new());
                self.history.series.push(Series { label, load, machine, unit: metric.unit, points, changes });
            }
        }
        true
    }

    /// The history with its changes.
    pub fn finish(mut self) -> History {
        for series in &mut self.history.series {
            series.changes = changes(&series.points);
        }
        self.history
    }
}

/// What makes the figures of machines comparable: a figure of another CPU or another kernel is not the same figure.
fn fingerprint(machine: &Machine) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let cpus = machine.cpus.map_or("unknown".to_owned(), |cpus| cpus.to_string());
    format!("{}, {cpus} CPUs, Linux {}", known(&machine.cpu_model), known(&machine.kernel))
}

fn changes(points: &[Point]) -> Vec<Change> {
    if points.len() < LEAST_POINTS {
        return Vec::new();
    }
    let series = weighted(points);
    let found = change_points(&series, SEED);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([series.len()]).collect();
    let mean = |from: usize, to: usize| {
        let part = &series[from..to];
        let weights: f64 = part.iter().map(|one| one.weight).sum();
        part.iter().map(|one| one.weight * one.figure).sum::<f64>() / weights
    };
    let change = |(number, change): (usize, &loadline_stats::ChangePoint)| {
        let (before, after) =
            (mean(edges[number], edges[number + 1]), mean(edges[number + 1], edges[number + 2]));
        Change {
            at: change.at,
            before,
            after,
            relative: (before != 0.0).then(|| after / before - 1.0),
            p_value: change.p_value,
            settled: series.len() - change.at >= SETTLED,
        }
    };
    found.iter().enumerate().map(change).collect()
}

/// Each run's figure with the inverse of its variance, which is that of runs and its own. How runs vary is seen in the differences of neighbours,
/// which a change hardly touches. A half-width counts as two standard errors; of few deployments it is more, and the figure weighs less.
fn weighted(points: &[Point]) -> Vec<Weighted> {
    let own = |point: &Point| point.interval.map(|[low, high]| ((high - low) / 4.0).powi(2));
    let usual = median(points.iter().filter_map(own)).unwrap_or_default();
    let apart = points.windows(2).map(|pair| (pair[1].value - pair[0].value).powi(2));
    let of_neighbours = median(apart).unwrap_or_default() / CHI_SQUARED_MEDIAN / 2.0;
    let of_runs = (of_neighbours - usual).max(0.0);
    let least = of_neighbours.max(usual) / MOST_WEIGHT;
    let weight = |point: &Point| {
        let variance = (of_runs + own(point).unwrap_or(usual)).max(least);
        if variance > 0.0 { 1.0 / variance } else { 1.0 }
    };
    points.iter().map(|point| Weighted { figure: point.value, weight: weight(point) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(f64, f64)]) -> Vec<Point> {
        let point = |(run, (value, half)): (usize, &(f64, f64))| Point {
            run: run as i64,
            started: String::new(),
            value: *value,
            interval: (*half > 0.0).then_some([value - half, value + half]),
        };
        values.iter().enumerate().map(point).collect()
    }

    fn relative_weights(values: &[(f64, f64)]) -> Vec<f64> {
        let series = weighted(&points(values));
        series.iter().map(|one| one.weight / series[0].weight).collect()
    }

    #[test]
    fn a_figure_that_is_less_sure_weighs_less() {
        let alike = [(10.0, 2.0), (10.1, 2.0), (9.9, 2.0), (10.0, 8.0)];
        let weights = relative_weights(&alike);
        assert!((weights[3] - 1.0 / 16.0).abs() < 1e-9, "its variance is 16 times as large: {weights:?}");
        let narrow = [(10.0, 2.0), (10.1, 2.0), (9.9, 2.0), (10.0, 0.01)];
        assert!((relative_weights(&narrow)[3] - MOST_WEIGHT).abs() < 1e-9);
    }

    #[test]
    fn where_runs_vary_by_more_than_their_intervals_all_weigh_about_the_same() {
        let apart = [(10.0, 0.2), (14.0, 0.8), (9.0, 0.2), (13.0, 0.2), (8.0, 0.2)];
        let weights = relative_weights(&apart);
        assert!(weights.iter().all(|weight| (0.95..1.05).contains(weight)), "{weights:?}");
    }

    #[test]
    fn figures_without_an_interval_weigh_as_usual_and_equal_ones_the_same() {
        let weights = relative_weights(&[(10.0, 2.0), (10.1, 2.0), (9.9, 0.0), (10.0, 2.0)]);
        assert_eq!(weights[2], 1.0);
        assert_eq!(relative_weights(&[(10.0, 0.0); 4]), [1.0; 4]);
    }
}
