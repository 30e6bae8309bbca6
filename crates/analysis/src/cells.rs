//! Cells and slices of the result: each cell's own figures, and every slice as it was measured.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use loadline_model::experiment::Experiment;
use loadline_model::load::{ConnectionOptions, Reuse};
use loadline_model::metrics::THROTTLED;
use loadline_model::notes::Note;
use loadline_model::plan::Site;
use loadline_model::platform::Limits;
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, SparseHistogram};
use loadline_stats::t_interval;

use crate::buckets::merged;
use crate::counted::Counted;
use crate::figures::Prepared;
use crate::metrics::{self, Metric};
use crate::result::{Cell, Figure, Histograms, Percentiles, Slice, Statement};
use crate::sample;
use crate::throttling::throttling;
use crate::times::Times;
use crate::{ALPHA, RunData, deployments, seen, tails};

/// The cells of a run.
pub fn cells(data: &RunData, counted: &Counted<'_>) -> Vec<Cell> {
    let metrics = metrics::of_run(data);
    data.run.plan.cell_ids().map(|id| cell(data, counted, &metrics, id)).collect()
}

fn cell(data: &RunData, counted: &Counted<'_>, metrics: &[Metric], id: CellId) -> Cell {
    let (experiment, plan) = (&data.run.experiment, data.run.plan.cell(id));
    let site = data.run.plan.site(plan.site);
    let load = experiment.load(plan.load);
    let slices: Vec<&SliceRow> =
        counted.get(&id).into_iter().flat_map(|cell| cell.values().copied()).collect();
    let mut errors = BTreeMap::new();
    for (kind, count) in slices.iter().flat_map(|slice| &slice.errors) {
        *errors.entry(kind.clone()).or_insert(0) += count;
    }
    let side_by_side = data.run.side_by_side.contains(&id);
    let deployments = deployments::deployments(data, counted, id);
    Cell {
        id,
        service: experiment.service(site.service).name.clone(),
        platform: experiment.platform(site.platform).name.clone(),
        load: match experiment.capacity {
            Some(_) => format!("from {}", load.load),
            None => load.load.to_string(),
        },
        rate_per_second: load.load.rate().map(|rate| rate.as_per_second()),
        connections: load.connections,
        new_connections: load.reuse == Reuse::Never,
        options: ConnectionOptions::from(load),
        role: plan.role,
        label: label(experiment, site),
        run: data.joined_run(id).map(|run| run.name.clone()),
        limits: limits(data, site),
        interleave: if side_by_side { "requests" } else { "slices" }.to_owned(),
        deployment_spread: deployments::spread(&deployments, load.load.is_closed()),
        deployments,
        answered: slices.iter().map(|slice| slice.answered).sum(),
        errors,
        throttling: throttling(&slices),
        figures: metrics.iter().filter_map(|metric| figure(counted, id, metric)).collect(),
        histograms: histograms(&slices),
        seen: seen::seen(data, id),
        tail: tails::tail(data, id),
    }
}

/// What the service of a site could use at the most.
pub fn limits(data: &RunData, site: &Site) -> Limits {
    let experiment = &data.run.experiment;
    let name = &experiment.platform(site.platform).name;
    let is_without =
        |note: &Note| matches!(note, Note::WithoutLimits { platforms } if platforms.contains(name));
    match data.run.notes.iter().any(is_without) {
        true => Limits::default(),
        false => experiment.limits_of(site.service, site.platform),
    }
}

/// What sets a site apart from the others: its platform, its service, or both.
pub fn label(experiment: &Experiment, site: &Site) -> String {
    let service = &experiment.service(site.service).name;
    let platform = &experiment.platform(site.platform).name;
    match (experiment.services.len() > 1, experiment.platforms.len() > 1) {
        (true, true) => format!("{service} on {platform}{}", site.mark(platform)),
        (true, false) => format!("{service}{}", site.mark(service)),
        _ => format!("{platform}{}", site.mark(platform)),
    }
}

/// A cell's own figure of a metric; `None` where it has none.
pub fn figure(counted: &Counted<'_>, id: CellId, metric: &Metric) -> Option<Figure> {
    let units = sample::units_of(metric, counted, &[id]).into_iter().map(|unit| unit.concat());
    let prepared = Prepared::new(metric, units)?;
    let value = prepared.whole();
    let t_interval =
        t_interval(&prepared.by_unit(), 1.0 - ALPHA).map(|interval| [interval.low, interval.high]);
    value.is_finite().then(|| Figure {
        metric: metric.id.to_string(),
        label: metric.label.to_string(),
        primary: metric.is_primary || (metric.id == THROTTLED && value > 0.0),
        unit: metric.unit,
        value,
        // No figure of a cell is below zero: an interval that is says only that Student's t does not fit.
        t_interval: t_interval.filter(|bounds| bounds.iter().all(|bound| bound.is_finite() && *bound >= 0.0)),
    })
}

fn histograms(slices: &[&SliceRow]) -> Histograms {
    let of = |times| SparseHistogram::from(&merged(times, slices.iter().copied()));
    let [response, service, send_lag] = [Times::Response, Times::Service, Times::SendLag].map(of);
    let base64 = |histogram: &SparseHistogram| BASE64_STANDARD.encode(histogram.encode());
    Histograms {
        response: base64(&response),
        service: base64(&service),
        send_lag: base64(&send_lag),
        response_percentiles: percentiles(&response),
        service_percentiles: percentiles(&service),
        send_lag_percentiles: percentiles(&send_lag),
    }
}

fn percentiles(histogram: &SparseHistogram) -> Percentiles {
    Percentiles {
        p50: histogram.value_at_quantile(0.5),
        p90: histogram.value_at_quantile(0.9),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
    }
}

/// Every slice in the order of measurement.
pub fn slices(data: &RunData, counted: &Counted<'_>) -> Vec<Slice> {
    let counts = |slice: &SliceRow| {
        let of_cell = counted.get(&slice.cell);
        // Where one attempt alone can count, it stands as the first.
        let mut places = [slice.attempt, 0].into_iter().map(|attempt| (slice.round, slice.block, attempt));
        let chosen = places.find_map(|place| of_cell?.get(&place));
        chosen.is_some_and(|chosen| chosen.attempt == slice.attempt)
    };
    data.slices
        .iter()
        .map(|slice| Slice {
            cell: slice.cell,
            round: slice.round,
            block: slice.block,
            position: slice.position,
            attempt: slice.attempt,
            counted: counts(slice),
            at_s: slice.at_s,
            own_at_s: data.joined_run(slice.cell).map(|run| slice.at_s - run.begins_s),
            duration_s: slice.duration_s,
            due: slice.due,
            answered: slice.answered,
            errors: slice.errors.clone(),
            rate_per_second: slice.answered_in_time as f64 / slice.duration_s,
            response_mean_ns: slice.response.mean(),
            response: percentiles(&slice.response),
            service: percentiles(&slice.service),
            send_lag: percentiles(&slice.send_lag),
            observations: slice.observations.clone(),
            failed_gates: slice.gate_failures.iter().cloned().map(Statement::of).collect(),
        })
        .collect()
}
