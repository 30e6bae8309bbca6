//! What is seen of a deployment once: how long its start and its warm-up took, what the idle service and its image weigh.
//!
//! All slices of a deployment have the same figure, so that they say nothing of how it varies: a single deployment has no interval. The figure
//! of a cell is the mean over its deployments, which is what Student's interval is of. A start that met a busy disk is a
//! deployment that carries the difference (`carried.rs`), of which nothing is claimed then; the table of starts has medians (`starts.rs`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use loadline_model::CellId;
use loadline_model::metrics::{HigherIs, MetricName};
use loadline_model::platform::Starts;
use loadline_model::rows::{DeploymentRow, SliceRow};

use crate::RunData;
use crate::result::Unit;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// A figure of each deployment of a cell, by its round.
pub struct OfDeployments(BTreeMap<(CellId, u32), f64>);

impl OfDeployments {
    /// The figure of the deployment that a slice was measured in.
    pub fn at(&self, slice: &SliceRow) -> Option<f64> {
        self.0.get(&(slice.cell, slice.round)).copied()
    }
}

/// Something that is seen of deployments, and its figures.
pub struct Seen {
    /// Id of its metric, `start.answered`.
    pub id: MetricName,
    /// Label of its metric.
    pub label: Cow<'static, str>,
    /// Unit of the figures.
    pub unit: Unit,
    /// Words of its verdicts.
    pub higher_is: HigherIs,
    /// As far as they are known.
    pub figures: OfDeployments,
}

/// What was seen of a run's deployments, in the order in which tables show it. Nothing of a search, whose deployments are there to be searched.
pub fn seen(data: &RunData) -> Vec<Seen> {
    if data.run.experiment.capacity.is_some() {
        return Vec::new();
    }
    let mut all =
        vec![time("start.answered", "start to first answer", starts(data, |row| Some(row.ready_ms)))];
    all.extend(phases(data).into_iter().map(|name| {
        let after_ms = |row: &DeploymentRow| {
            row.startup.phases.iter().find(|phase| phase.name == name).map(|phase| phase.after_ms)
        };
        time(format!("start.{name}"), format!("  {name}"), starts(data, after_ms))
    }));
    let warm_ups = data.warm_ups.iter().map(|row| ((row.cell, row.round), row.seconds * NS_PER_S));
    all.push(time("warmup.time", "warm-up", OfDeployments(warm_ups.collect())));
    let bytes = |of: fn(&DeploymentRow) -> Option<u64>| by_cell(data, move |row| Some(of(row)? as f64));
    all.push(size("memory.idle", "idle memory", bytes(|row| row.startup.idle_memory_bytes)));
    all.push(size("image.size", "image size", bytes(|row| row.startup.image_bytes)));
    all
}

/// The phases that the platforms told of, each once.
fn phases(data: &RunData) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for phase in data.deployments.iter().flat_map(|row| &row.startup.phases) {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    names
}

/// Times since the starts, of ms; none of what somebody else has started.
fn starts(data: &RunData, ms: impl Fn(&DeploymentRow) -> Option<f64>) -> OfDeployments {
    let run = &data.run;
    let platform = |row: &DeploymentRow| run.experiment.platform(run.plan.site(row.site).platform);
    let is_started = |row: &DeploymentRow| platform(row).kind.capabilities(false).starts != Starts::Nothing;
    by_cell(data, |row| ms(row).filter(|_| is_started(row)).map(|ms| ms * NS_PER_MS))
}

/// The cells of a site have its figure.
fn by_cell(data: &RunData, figure: impl Fn(&DeploymentRow) -> Option<f64>) -> OfDeployments {
    let known = data.deployments.iter().filter_map(|row| Some((row, figure(row)?)));
    let of_cells = known.flat_map(|(row, figure)| {
        data.run.plan.cells_of(row.site).map(move |(cell, _)| ((cell, row.round), figure))
    });
    OfDeployments(of_cells.collect())
}

fn time(id: impl Into<MetricName>, label: impl Into<Cow<'static, str>>, figures: OfDeployments) -> Seen {
    let (id, label) = (id.into(), label.into());
    Seen { id, label, unit: Unit::Nanoseconds, higher_is: HigherIs::Slower, figures }
}

fn size(id: &'static str, label: &'static str, figures: OfDeployments) -> Seen {
    let (id, label) = (id.into(), label.into());
    Seen { id, label, unit: Unit::Bytes, higher_is: HigherIs::Costlier, figures }
}
