//! How sure the intervals are, when a run may stop, and how long it would take to settle what it left open.

use std::collections::BTreeSet;

use loadline_model::experiment::{Experiment, Precision};
use loadline_stats::{LOOK_CONFIDENCE, look_sizes, t_quantile};

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
        // What is in no contrast, because nothing was answered, is not known either.
        let nowhere =
            StillOpen { label: asked.metric.clone(), reached: None, within: asked.within, deployments: None };
        let nowhere = Some(nowhere).filter(|_| contrasts.is_empty());
        let rows = contrasts.iter().map(|contrast| row(contrast, &asked.metric));
        nowhere.into_iter().chain(rows.filter_map(|row| open(result, asked, row)))
    });
    open.max_by_key(|open| open.deployments.unwrap_or(u32::MAX))
}

/// What a row lacks, if it does.
fn open(result: &RunResult, asked: &Precision, row: Option<&Row>) -> Option<StillOpen> {
    let reached = row.and_then(half_width).zip(row).map(|(half, row)| half / row.baseline.abs());
    if reached.is_some_and(|reached| reached <= asked.within) {
        return None;
    }
    let freedom = row.and_then(|row| row.degrees_of_freedom);
    Some(StillOpen {
        label: row.map_or_else(|| asked.metric.clone(), |row| row.label.clone()),
        reached,
        within: asked.within,
        deployments: reached.map(|reached| {
            let plan = &result.plan;
            let enough =
                enough_deployments(plan.deployments, freedom, reached / asked.within, plan.confidence);
            let measured = result.cells.iter().map(|cell| cell.deployments.len()).max().unwrap_or(0);
            let enough = of_measured(enough, measured as u32, plan.deployments);
            // It ends at a look.
            look_sizes(plan.deployments_planned as usize)
                .find(|size| *size >= enough as usize)
                .map_or(enough, |size| size as u32)
        }),
    })
}

/// How many deployments must be measured for so many that count, if as large a share of them counts as so far.
fn of_measured(enough: u32, measured: u32, counted: u32) -> u32 {
    let share = f64::from(measured.max(counted)) / f64::from(counted.max(1));
    (f64::from(enough) * share).ceil() as u32
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

/// How long a run takes that knows the first open latency metric to ±5 % in every contrast. Nothing continues a run, so it is a new one
/// with more deployments, each of which takes what those of this run took: starting, warming up, measuring, ending.
pub fn seconds_to_settle(
    data: &RunData,
    deployments: u32,
    confidence: f64,
    contrasts: &[Contrast],
) -> Option<SecondsToSettle> {
    let measured: BTreeSet<u32> = data.deployments.iter().map(|deployment| deployment.round).collect();
    let measured = measured.len() as u32;
    let pace = Pace::of(data, measured)?;
    ["response.p50", "response.p99", "response.p99.9"].into_iter().find_map(|metric| {
        let open = contrasts.iter().filter_map(|contrast| row(contrast, metric));
        // More of what can't be trusted would settle nothing.
        let open = open.filter(|row| row.trusted && row.verdict == Verdict::Unresolved);
        let ratio_of = |row: &Row| Some(half_width(row)? / (SETTLED_WITHIN * row.baseline.abs()));
        let (row, ratio) = open
            .filter_map(|row| Some((row, ratio_of(row)?)))
            .max_by(|left, right| left.1.total_cmp(&right.1))?;
        (ratio > 1.0).then(|| {
            let enough = enough_deployments(deployments, row.degrees_of_freedom, ratio, confidence);
            let enough = of_measured(enough, measured, deployments);
            SecondsToSettle {
                metric: row.label.clone(),
                within: SETTLED_WITHIN,
                seconds: pace.each_s * f64::from(enough.saturating_sub(measured)),
                run_seconds: pace.run_of(enough),
                deployments: enough,
                needs_more_time: time_limit(data).is_some_and(|limit| pace.run_of(enough) > limit),
            }
        })
    })
}

/// How fast a run went, by the wall clock.
struct Pace {
    /// Before the first deployment, s.
    before_s: f64,
    /// A deployment with all that belongs to it, s.
    each_s: f64,
}

impl Pace {
    fn of(data: &RunData, deployments: u32) -> Option<Pace> {
        let begun = |round: u32| {
            let of_round = data.deployments.iter().filter(|row| row.round == round);
            of_round.map(|row| row.at_s).reduce(f64::min)
        };
        let before_s = begun(0)?;
        // From one round's start to the next one's, so that the removal of what was deployed is in it.
        let last = deployments.checked_sub(1)?;
        let between = begun(last).filter(|_| last > 0).map(|at| (at - before_s) / f64::from(last));
        let ended = data.slices.iter().map(|row| row.at_s + row.duration_s).reduce(f64::max)?;
        Some(Pace { before_s, each_s: between.unwrap_or(ended - before_s) })
    }

    /// Seconds of a run of so many deployments.
    fn run_of(&self, deployments: u32) -> f64 {
        self.before_s + self.each_s * f64::from(deployments)
    }
}

/// Within how many seconds a run of this experiment is to end.
fn time_limit(data: &RunData) -> Option<f64> {
    let plan = &data.run.experiment.plan;
    plan.within.map(|within| within.as_secs_f64())
}

/// From so many deployments on Student's t is the normal quantile, which takes long to compute of more.
const MANY: u32 = 10_000;

/// The fewest deployments with intervals `ratio` times narrower than those of so many. An interval is as wide as t(ν) ÷ √n, where a tail that
/// rests on a part of the deployments will rest on as large a part of more.
fn enough_deployments(deployments: u32, freedom: Option<f64>, ratio: f64, confidence: f64) -> u32 {
    let part = freedom.map_or(1.0, |freedom| ((freedom + 1.0) / f64::from(deployments)).min(1.0));
    let t = |n: u32| t_quantile(0.5 + confidence / 2.0, (part * f64::from(n.min(MANY)) - 1.0).max(1.0));
    let width = |n: u32| t(n) / f64::from(n).sqrt();
    // The interval of a single deployment is over its blocks: it narrows with their number alone.
    if deployments < 2 {
        return (f64::from(deployments) * ratio * ratio).ceil() as u32;
    }
    let wanted = width(deployments) / ratio;
    let (mut too_few, mut enough) = (deployments, deployments);
    while width(enough) > wanted && enough < u32::MAX / 2 {
        (too_few, enough) = (enough, enough * 2);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if width(middle) > wanted { too_few = middle } else { enough = middle }
    }
    enough
}

fn row<'a>(contrast: &'a Contrast, metric: &str) -> Option<&'a Row> {
    contrast.rows.iter().find(|row| row.metric == metric)
}

fn half_width(row: &Row) -> Option<f64> {
    row.interval.map(|[low, high]| (high - low) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_narrow_with_the_root_of_the_deployments_and_with_students_t() {
        // t(0.975; 3) = 3.182, t(0.975; 7) = 2.365, t(0.975; 8) = 2.306.
        assert_eq!(enough_deployments(4, None, 1.0, 0.95), 4);
        assert_eq!(enough_deployments(4, None, 3.182 / 2.0 / (2.365 / 8f64.sqrt()) - 1e-3, 0.95), 8);
        assert_eq!(enough_deployments(4, None, 3.182 / 2.0 / (2.365 / 8f64.sqrt()) + 1e-3, 0.95), 9);
        // Many deployments: t hardly changes.
        assert!((3_990..4_000).contains(&enough_deployments(1000, None, 2.0, 0.95)));
        assert_eq!(enough_deployments(1, None, 3.0, 0.95), 9);
        // What rests on two of four rests on four of eight: t(0.975; 1) = 12.71.
        let ratio = 12.706 / 2.0 / (3.1825 / 8f64.sqrt());
        assert_eq!(enough_deployments(4, Some(1.0), ratio - 1e-3, 0.95), 8);
        assert_eq!(enough_deployments(4, Some(3.0), 1.5, 0.95), enough_deployments(4, None, 1.5, 0.95));
    }
}
