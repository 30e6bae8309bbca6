//! A metric over stored runs: the figure of each cell in each run, in series of the same cell on machines that are alike, and where these changed.

use loadline_model::Machine;
use loadline_model::result::history::{Change, HISTORY_SCHEMA, History, LeftOut, Point, Series};
use loadline_model::rows::RunData;
use loadline_model::{CellId, RunState};
use loadline_stats::{LEAST_SIDE, change_points};

use crate::cells::{figure, label};
use crate::counted::{self, Counted};
use crate::metrics;

/// A series is judged with this many points.
const LEAST_POINTS: usize = 2 * LEAST_SIDE;
/// A change is settled with this many points after it.
const SETTLED: usize = LEAST_SIDE + 2;
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
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let found = change_points(&values, SEED);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([values.len()]).collect();
    let mean = |from: usize, to: usize| values[from..to].iter().sum::<f64>() / (to - from) as f64;
    let change = |(number, change): (usize, &loadline_stats::ChangePoint)| {
        let (before, after) =
            (mean(edges[number], edges[number + 1]), mean(edges[number + 1], edges[number + 2]));
        Change {
            at: change.at,
            before,
            after,
            relative: (before != 0.0).then(|| after / before - 1.0),
            p_value: change.p_value,
            settled: values.len() - change.at >= SETTLED,
        }
    };
    found.iter().enumerate().map(change).collect()
}
