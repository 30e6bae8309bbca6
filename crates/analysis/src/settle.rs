//! How sure the intervals are, when a run may stop, and how long it would take to settle what it left open.

use loadline_model::experiment::Experiment;
use loadline_stats::{look_confidence, look_sizes};

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

/// Confidence of the intervals after so many deployments.
///
/// Without `until` 95 %. With it the run is looked at several times and stops when it likes what it sees; look k then uses the
/// error α ÷ (k (k + 1)), which adds up to α over all looks.
pub fn confidence(experiment: &Experiment, deployments: u32) -> f64 {
    if experiment.plan.until.is_none() {
        return 1.0 - ALPHA;
    }
    let begun = look_sizes(experiment.plan.deployments as usize)
        .take_while(|size| *size < deployments as usize)
        .count();
    look_confidence(ALPHA, begun + 1)
}

/// The kind of interval.
pub fn interval_method(experiment: &Experiment, deployments: u32) -> IntervalMethod {
    IntervalMethod { over_deployments: deployments >= 2, repeated_looks: experiment.plan.until.is_some() }
}

/// Whether every contrast's p50 interval is as narrow as `until` asks.
pub fn is_settled(result: &RunResult) -> bool {
    let Some(until) = result.plan.until else { return false };
    let rows =
        result.contrasts.iter().chain(&result.noise).filter_map(|contrast| row(contrast, "response.p50"));
    let mut any = false;
    for row in rows {
        any = true;
        if half_width(row).is_none_or(|half| half > until * row.baseline.abs()) {
            return false;
        }
    }
    any
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
