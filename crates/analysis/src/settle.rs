//! How sure the intervals are, when a run may stop, and how long it would take to settle what it left open.

use loadline_model::experiment::Experiment;
use loadline_stats::{LOOK_CONFIDENCE, look_sizes};

use crate::result::{Contrast, IntervalMethod, Row, RunResult, SecondsToSettle, Verdict};
use crate::{ALPHA, RunData};

/// The half-width that "to settle" aims at, relative to the baseline.
const SETTLED_WITHIN: f64 = 0.05;

/// Whether a run with `until` is looked at after so many deployments.
pub fn look_at(experiment: &Experiment, deployments: u32) -> bool {
    look_sizes(experiment.plan.deployments as usize)
        .take_while(|size| *size <= deployments as usize)
        .any(|size| size == deployments as usize)
}

/// Confidence of the intervals: 95 %, or what keeps those of a run with `until` at 95 %.
pub fn confidence(experiment: &Experiment) -> f64 {
    if experiment.plan.until.is_some() { LOOK_CONFIDENCE } else { 1.0 - ALPHA }
}

/// The kind of interval.
pub fn interval_method(experiment: &Experiment, deployments: u32) -> IntervalMethod {
    IntervalMethod { over_deployments: deployments >= 2, ended_by_width: experiment.plan.until.is_some() }
}

/// What a run with `until` still lacks: `None` once everything is as precise as it asks. Of several, what takes longest.
pub fn still_open(result: &RunResult) -> Option<StillOpen> {
    let asked = result.plan.until.iter().flatten();
    // Without anything to compare the twin shows what the baseline is known to.
    let contrasts = if result.contrasts.is_empty() { &result.noise } else { &result.contrasts };
    let open = asked.flat_map(|asked| {
        contrasts.iter().filter_map(|contrast| row(contrast, &asked.metric)).filter_map(|row| {
            let reached = half_width(row).map(|half| half / row.baseline.abs());
            let is_settled = reached.is_some_and(|reached| reached <= asked.within);
            (!is_settled).then(|| StillOpen {
                label: row.label.clone(),
                reached,
                within: asked.within,
                deployments: reached.map(|reached| {
                    let times = (reached / asked.within).powi(2);
                    (f64::from(result.plan.deployments) * times).ceil() as u32
                }),
            })
        })
    });
    open.max_by_key(|open| open.deployments.unwrap_or(u32::MAX))
}

/// A figure that is not as precise as it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct StillOpen {
    /// Label of the metric, `response p99`.
    pub label: String,
    /// Half the interval's width, relative to the baseline; `None` where nothing can be claimed yet.
    pub reached: Option<f64>,
    /// What it is to be.
    pub within: f64,
    /// Deployments in all that this takes, at the noise so far.
    pub deployments: Option<u32>,
}

/// How much longer until the first open latency metric is known to ±5 % in every contrast: the interval narrows with the square
/// root of the number of deployments.
pub fn seconds_to_settle(
    data: &RunData,
    deployments: u32,
    contrasts: &[Contrast],
) -> Option<SecondsToSettle> {
    let begun = data.deployments.iter().map(|row| row.at_s).reduce(f64::min)?;
    let ended = data.slices.iter().map(|row| row.at_s + row.duration_s).reduce(f64::max)?;
    let seconds_each = (ended - begun) / f64::from(deployments.max(1));
    ["response.p50", "response.p99", "response.p99.9"].into_iter().find_map(|metric| {
        let open = contrasts.iter().filter_map(|contrast| row(contrast, metric));
        let open = open.filter(|row| row.verdict == Verdict::Unresolved);
        let ratio_of = |row: &Row| Some(half_width(row)? / (SETTLED_WITHIN * row.baseline.abs()));
        let (row, ratio) = open
            .filter_map(|row| Some((row, ratio_of(row)?)))
            .max_by(|left, right| left.1.total_cmp(&right.1))?;
        let deployments_in_all = f64::from(deployments) * ratio * ratio;
        (ratio > 1.0).then(|| SecondsToSettle {
            metric: row.label.clone(),
            within: SETTLED_WITHIN,
            seconds: seconds_each * (deployments_in_all - f64::from(deployments)),
            deployments: deployments_in_all.ceil() as u32,
        })
    })
}

fn row<'a>(contrast: &'a Contrast, metric: &str) -> Option<&'a Row> {
    contrast.rows.iter().find(|row| row.metric == metric)
}

fn half_width(row: &Row) -> Option<f64> {
    row.interval.map(|[low, high]| (high - low) / 2.0)
}
