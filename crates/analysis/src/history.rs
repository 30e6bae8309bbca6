//! A metric over stored runs: the figure of each cell in each run, in series of the same cell with the same limits and requests on
//! machines that are alike, and where these changed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use loadline_model::Machine;
use loadline_model::experiment::{CAPACITY, Capacity, RequestSpec};
use loadline_model::load::{Arrivals, ConnectionOptions, Load, LoadSpec, Rate, Reuse};
use loadline_model::metrics::Unit;
use loadline_model::platform::Limits;
use loadline_model::result::CellCapacity;
use loadline_model::result::history::{Change, HISTORY_SCHEMA, History, LeftOut, Point, Series};
use loadline_model::rows::RunData;
use loadline_model::{CellId, RunState};
use loadline_stats::{LEAST_SIDE, Weighted, change_points, t_quantile};

use crate::capacity::{Objectives, of_cells};
use crate::cells::{figure, label, limits};
use crate::counted::{self, Counted};
use crate::median::median;
use crate::metrics::{self, Metric};
use crate::{repeats, trust};

/// A series is judged with this many points.
const LEAST_POINTS: usize = 2 * LEAST_SIDE;
/// A change is settled with this many points after it.
const SETTLED: usize = LEAST_SIDE + 2;
/// No run weighs more than so many usual ones, and one without an interval as little.
const MOST_WEIGHT: f64 = 4.0;
/// What is usual counts as much as so many degrees of freedom of a run's own.
const USUAL_DF: f64 = 4.0;
/// From so many on Student's distribution is the normal one.
const MANY_DF: f64 = 1e4;
/// The median of a squared standard normal number.
const CHI_SQUARED_MEDIAN: f64 = 0.455;
const MIB: f64 = 1_048_576.0;
/// Of the random orders: the same series has the same changes.
const SEED: u64 = 7;

/// Gathers the history of a metric, run by run.
pub struct Chronicle {
    history: History,
    /// What is sent in each series, and how. Its text does not say all of it.
    sent: Vec<Sent>,
    /// The metrics that the runs have.
    known: BTreeSet<String>,
}

/// A load, the request mix of a service, and the file whose rows fill it in.
type Sent = (LoadSpec, Vec<RequestSpec>, Option<PathBuf>);

impl Chronicle {
    /// Of no run yet.
    pub fn new(metric: &str) -> Chronicle {
        let (schema, metric) = (HISTORY_SCHEMA.to_owned(), metric.to_owned());
        let (series, left_out) = (Vec::new(), Vec::new());
        let history = History { schema, metric, least_points: LEAST_POINTS, series, left_out };
        Chronicle { history, sent: Vec::new(), known: BTreeSet::new() }
    }

    /// Adds a run, after all that were made before it.
    pub fn add(&mut self, data: &RunData) {
        if data.run.state != RunState::Complete {
            self.leave_out(data.run.id, "it was not completed");
            return;
        }
        let counted = counted::counted(&data.run, &data.slices);
        let found = match (&data.run.experiment.capacity, self.is_of_searches()) {
            (None, false) => self.figures(data, &counted),
            (Some(capacity), true) => capacities(data, &counted, capacity),
            (Some(_), false) => return self.leave_out(data.run.id, "it searched for a capacity"),
            (None, true) => return self.leave_out(data.run.id, "it did not search for a capacity"),
        };
        if found.is_empty() {
            self.leave_out(data.run.id, "it does not have this metric");
        }
        // Twins that differ are no gate.
        let trust = trust::judge(data, &counted, &[], repeats::repeats(data, &counted));
        for figure in found {
            let untrusted = !trust.trusts([figure.cell]);
            self.add_figure(data, &counted, figure, untrusted);
        }
    }

    fn is_of_searches(&self) -> bool {
        self.history.metric == CAPACITY
    }

    fn leave_out(&mut self, run: i64, reason: &str) {
        self.history.left_out.push(LeftOut { run, reason: reason.to_owned() });
    }

    fn figures(&mut self, data: &RunData, counted: &Counted<'_>) -> Vec<Found> {
        let metrics: Vec<Metric> =
            metrics::of_run(data).into_iter().chain(metrics::unlisted(&data.run)).collect();
        self.known.extend(metrics.iter().map(|metric| metric.id.to_string()));
        let Some(metric) = metrics.iter().find(|metric| metric.id == self.history.metric) else {
            return Vec::new();
        };
        let found = |cell| {
            let found = figure(counted, cell, metric)?;
            let load = data.run.experiment.load(data.run.plan.load_of(cell)).load.to_string();
            Some(Found { cell, load, unit: metric.unit, value: found.value, interval: found.t_interval })
        };
        asked(data).filter_map(found).collect()
    }

    fn add_figure(&mut self, data: &RunData, counted: &Counted<'_>, found: Found, untrusted: bool) {
        let Found { cell, load, unit, value, interval } = found;
        let (experiment, plan) = (&data.run.experiment, &data.run.plan);
        let site = plan.site_of(cell);
        let label = match experiment.services.len() > 1 && experiment.platforms.len() > 1 {
            true => label(experiment, site),
            false => site.label(experiment),
        };
        let label = [vec![label], words(limits(data, site))].concat().join(", ");
        let service = experiment.service(site.service);
        let spec = experiment.load(plan.load_of(cell));
        let load = ConnectionOptions::from(spec).of_load(&load, spec.reuse == Reuse::Never, spec.connections);
        let load = format!("{load}, {}", in_words(&service.requests));
        let sent = (comparable(spec, self.is_of_searches()), service.requests.clone(), service.feed.clone());
        let machine = fingerprint(&data.run.machine);
        let point = Point {
            run: data.run.id,
            started: data.run.started.clone(),
            value,
            interval,
            deployments: counted
                .get(&cell)
                .map_or(0, |places| places.keys().map(|(round, ..)| *round).collect::<BTreeSet<u32>>().len()),
            untrusted,
        };
        let is_of = |(series, of_series): &(&mut Series, &Sent)| {
            (&series.label, &series.load, &series.machine, *of_series) == (&label, &load, &machine, &sent)
        };
        match self.history.series.iter_mut().zip(&self.sent).find(is_of) {
            Some((series, _)) => series.points.push(point),
            None => {
                let (points, changes) = (vec![point], Vec::new());
                self.history.series.push(Series { label, load, machine, unit, points, changes });
                self.sent.push(sent);
            }
        }
    }

    /// The metrics that the runs have instead, if none of them has this one.
    pub fn known_instead(&self) -> Option<&BTreeSet<String>> {
        let is_unknown = !self.known.is_empty() && !self.known.contains(&self.history.metric);
        is_unknown.then_some(&self.known)
    }

    /// The history with its changes.
    pub fn finish(mut self) -> History {
        let alone = if self.is_of_searches() { Alone::Posterior } else { Alone::NoMeasure };
        for series in &mut self.history.series {
            series.changes = changes(&series.points, alone);
        }
        self.history
    }
}

/// A figure of a cell in a run, and under what load.
struct Found {
    cell: CellId,
    load: String,
    unit: Unit,
    value: f64,
    interval: Option<[f64; 2]>,
}

/// What the interval of a run with a single deployment is worth.
#[derive(Clone, Copy)]
enum Alone {
    /// Nothing: it is one over blocks, and deployments differ.
    NoMeasure,
    /// All that is known of a capacity.
    Posterior,
}

/// A load without its name, and that of a search without the rate at which it began.
fn comparable(spec: &LoadSpec, of_search: bool) -> LoadSpec {
    let mut spec = LoadSpec { name: None, ..spec.clone() };
    if let (true, Load::Open { rate, .. }) = (of_search, &mut spec.load) {
        *rate = Rate::per_second(1.0).expect("a rate");
    }
    spec
}

/// The cells of a run without its twins.
fn asked(data: &RunData) -> impl Iterator<Item = CellId> {
    data.run.plan.cell_ids().filter(|cell| !data.run.plan.site_of(*cell).twin)
}

/// What a search found. Its loads are where it began; what makes its figures comparable is what was asked of the services.
fn capacities(data: &RunData, counted: &Counted<'_>, capacity: &Capacity) -> Vec<Found> {
    let objectives = Objectives::of(capacity, &data.run);
    let percent = (capacity.precision * 1e4).round() / 1e2;
    let load = format!("{} to ±{percent} %", objectives.texts().join(", "));
    let found = of_cells(data, counted, &objectives);
    let found = asked(data).filter_map(|cell| {
        let CellCapacity { rate_per_second, interval, .. } = found[cell.0];
        let arrivals = match data.run.experiment.load(data.run.plan.load_of(cell)).load {
            Load::Open { arrivals: Arrivals::Uniform, .. } => ", uniform",
            _ => "",
        };
        let load = format!("{load}{arrivals}");
        Some(Found { cell, load, unit: Unit::PerSecond, value: rate_per_second?, interval })
    });
    found.collect()
}

/// `0.5 CPUs`, `512 MiB`
fn words(limits: Limits) -> Vec<String> {
    let cpus = limits.cpus.map(|cpus| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }));
    let memory = limits.memory_bytes.map(|bytes| format!("{} MiB", bytes as f64 / MIB));
    cpus.into_iter().chain(memory).collect()
}

/// `GET /a`, or of a mix with weights `3 × GET /a + 1 × POST /b (12 bytes)`
fn in_words(requests: &[RequestSpec]) -> String {
    let request = |request: &RequestSpec| {
        let times = if requests.len() > 1 { format!("{} × ", request.weight) } else { String::new() };
        let body = request.body.as_ref().map(|body| format!(" ({} bytes)", body.len())).unwrap_or_default();
        format!("{times}{} {}{body}", request.method, request.path)
    };
    requests.iter().map(request).collect::<Vec<String>>().join(" + ")
}

/// What makes the figures of machines comparable: a figure of another CPU or another kernel is not the same figure.
fn fingerprint(machine: &Machine) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let cpus = machine.cpus.map_or("unknown".to_owned(), |cpus| cpus.to_string());
    format!("{}, {cpus} CPUs, Linux {}", known(&machine.cpu_model), known(&machine.kernel))
}

fn changes(points: &[Point], alone: Alone) -> Vec<Change> {
    if points.len() < LEAST_POINTS {
        return Vec::new();
    }
    let series = weighted(points, alone);
    let found = change_points(&series, SEED);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([series.len()]).collect();
    let mean = |from: usize, to: usize| {
        points[from..to].iter().map(|point| point.value).sum::<f64>() / (to - from) as f64
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
/// which a change hardly touches. What a few deployments say of their own variance is drawn towards what is usual. A run without an interval
/// is one of the least sure.
fn weighted(points: &[Point], alone: Alone) -> Vec<Weighted> {
    let own: Vec<Option<(f64, f64)>> = points.iter().map(|point| own_variance(point, alone)).collect();
    let usual = median(own.iter().flatten().map(|(variance, _)| *variance)).unwrap_or_default();
    let apart = points.windows(2).map(|pair| (pair[1].value - pair[0].value).powi(2));
    let of_neighbours = median(apart).unwrap_or_default() / CHI_SQUARED_MEDIAN / 2.0;
    let of_runs = (of_neighbours - usual).max(0.0);
    let least = of_neighbours.max(usual) / MOST_WEIGHT;
    let variance = |own: &Option<(f64, f64)>| match own {
        Some((variance, df)) => (df * variance + USUAL_DF * usual) / (df + USUAL_DF),
        None => MOST_WEIGHT * usual,
    };
    let weight = |own| if least > 0.0 { 1.0 / (of_runs + variance(own)).max(least) } else { 1.0 };
    points
        .iter()
        .zip(&own)
        .map(|(point, own)| Weighted { figure: point.value, weight: weight(own) })
        .collect()
}

/// The square of the standard error, and its degrees of freedom.
fn own_variance(point: &Point, alone: Alone) -> Option<(f64, f64)> {
    let [low, high] = point.interval?;
    let df = match (point.deployments, alone) {
        (0..=1, Alone::NoMeasure) => return None,
        (0..=1, Alone::Posterior) => MANY_DF,
        (deployments, _) => (deployments - 1) as f64,
    };
    Some((((high - low) / 2.0 / t_quantile(0.975, df)).powi(2), df))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_stats::t_interval;
    use rand_pcg::Pcg64;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    /// Runs of five deployments.
    fn points(values: &[(f64, f64)]) -> Vec<Point> {
        let point = |(run, (value, half)): (usize, &(f64, f64))| Point {
            run: run as i64,
            started: String::new(),
            value: *value,
            interval: (*half > 0.0).then_some([value - half, value + half]),
            deployments: 5,
            untrusted: false,
        };
        values.iter().enumerate().map(point).collect()
    }

    fn relative_weights(values: &[(f64, f64)]) -> Vec<f64> {
        let series = weighted(&points(values), Alone::NoMeasure);
        series.iter().map(|one| one.weight / series[0].weight).collect()
    }

    #[test]
    fn a_figure_that_is_less_sure_weighs_less_and_one_without_an_interval_least() {
        let weights = relative_weights(&[(10.0, 2.0), (10.1, 2.0), (9.9, 2.0), (10.0, 8.0), (10.0, 0.0)]);
        // With as many degrees of freedom of its own as of what is usual: (16 + 1) / 2 of the usual variance.
        assert!((weights[3] - 2.0 / 17.0).abs() < 1e-9, "{weights:?}");
        assert!((weights[4] - 1.0 / MOST_WEIGHT).abs() < 1e-9, "{weights:?}");
        let narrow = relative_weights(&[(10.0, 2.0), (10.1, 2.0), (9.9, 2.0), (10.0, 0.01)]);
        assert!((1.5..=2.0 + 1e-9).contains(&narrow[3]), "it may be narrow by chance: {narrow:?}");
    }

    #[test]
    fn a_single_deployment_has_an_interval_of_its_own_only_of_a_capacity() {
        let mut runs = points(&[(10.0, 2.0), (10.1, 2.0), (9.9, 8.0)]);
        runs.iter_mut().for_each(|run| run.deployments = 1);
        assert!(own_variance(&runs[0], Alone::NoMeasure).is_none());
        let (variance, _) = own_variance(&runs[0], Alone::Posterior).unwrap();
        assert!((variance - (2.0_f64 / 1.96).powi(2)).abs() < 1e-3, "{variance}");
        let series = weighted(&runs, Alone::Posterior);
        assert!(series[2].weight < 0.2 * series[0].weight, "{series:?}");
    }

    #[test]
    fn where_runs_vary_by_more_than_their_intervals_all_weigh_about_the_same() {
        let weights = relative_weights(&[(10.0, 0.2), (14.0, 0.8), (9.0, 0.2), (13.0, 0.2), (8.0, 0.2)]);
        assert!(weights.iter().all(|weight| (0.95..1.05).contains(weight)), "{weights:?}");
    }

    #[test]
    fn where_most_runs_are_exact_all_weigh_the_same() {
        assert_eq!(relative_weights(&[(10.0, 0.0); 4]), [1.0; 4]);
        let exact =
            [10.0, 10.0, 10.0, 10.0, 11.0].map(|value| (value, if value > 10.0 { 1.0 } else { 1e-300 }));
        assert_eq!(relative_weights(&exact), [1.0; 5]);
    }

    /// Forty runs whose figures vary by 1 % because their deployments do, the second half larger by `change`.
    fn runs(seed: u64, deployments: usize, change: f64) -> Vec<Point> {
        let mut random = Pcg64::seed_from_u64(seed);
        // The sum of twelve uniform numbers has a variance of one.
        let mut normal =
            || (0..12).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0;
        let mut point = |run: usize| {
            let level = if run < 20 { 100.0 } else { 100.0 * (1.0 + change) };
            let each: Vec<f64> =
                (0..deployments).map(|_| level + normal() * (deployments as f64).sqrt()).collect();
            let interval = t_interval(&each, 0.95).map(|interval| [interval.low, interval.high]);
            let value = each.iter().sum::<f64>() / deployments as f64;
            Point { run: run as i64, started: String::new(), value, interval, deployments, untrusted: false }
        };
        (0..40).map(&mut point).collect()
    }

    /// In how many of forty histories a change is found; without `intervals` all runs weigh the same.
    fn found(seeds: std::ops::Range<u64>, deployments: usize, change: f64, intervals: bool) -> usize {
        let is_changed = |seed: &u64| {
            let mut points = runs(*seed, deployments, change);
            points.iter_mut().filter(|_| !intervals).for_each(|point| point.interval = None);
            !changes(&points, Alone::NoMeasure).is_empty()
        };
        seeds.filter(is_changed).count()
    }

    #[test]
    fn intervals_that_differ_by_chance_alone_cost_little() {
        for deployments in [3, 8] {
            assert!(found(0..40, deployments, 0.03, true) >= 39, "{deployments} deployments");
            assert!(found(100..140, deployments, 0.0, true) <= 2, "{deployments} deployments");
            let (weighted, equal) =
                (found(0..40, deployments, 0.02, true), found(0..40, deployments, 0.02, false));
            assert!(weighted + 2 >= equal, "{deployments} deployments: {weighted} of 40, not {equal}");
        }
    }
}
