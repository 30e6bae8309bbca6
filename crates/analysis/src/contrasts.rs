//! Each candidate against its baseline: difference, interval, Holm's correction, verdict.

use loadline_model::CellId;
use loadline_model::experiment::Margin;
use loadline_model::metrics::{HigherIs, THROTTLED};
use loadline_stats::{Bootstrap, MIN_BLOCKS};

use crate::carried::carried;
use crate::compared::{Compared, differences};
use crate::counted::Counted;
use crate::figures::Prepared;
use crate::metrics::{self, Metric};
use crate::result::{Contrast, Remark, Row, Statement, Verdict};
use crate::sample::Paired;
use crate::two_kinds::two_kinds;
use crate::verdicts::{self, Draft, Evidence};
use crate::{RunData, seen};

/// Fewest requests beyond a quantile for a claim about it.
const LEAST_BEYOND: f64 = 10.0;
/// Fewest events, on either side, for a claim about a count: a handful may by chance all fall on one side.
const LEAST_EVENTS: f64 = 10.0;

/// The planned contrasts.
pub fn contrasts(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Contrast> {
    let (plan, metrics) = (&data.run.plan, metrics::of_run(data));
    let planned = plan.planned_contrasts().map(|planned| {
        let twin = pooled_twin(data, planned.baseline);
        draft(data, counted, &metrics, planned.baseline, planned.candidate, twin, confidence)
    });
    let mut drafts: Vec<Draft> = planned.collect();
    for metric in &metrics {
        verdicts::judge(&mut drafts, confidence, |row| row.metric == metric.id);
    }
    drafts.into_iter().map(|draft| draft.contrast).collect()
}

/// The twin that is pooled into a baseline. On a ladder none is: a rung's cost is added to those below it, so each rung is compared with the
/// very cell that it stands on.
pub fn pooled_twin(data: &RunData, baseline: CellId) -> Option<CellId> {
    if data.run.experiment.is_ladder() { None } else { data.run.plan.twin_of(baseline) }
}

/// One cell against another, not judged yet. A twin is pooled into the baseline.
pub fn draft(
    data: &RunData,
    counted: &Counted<'_>,
    metrics: &[Metric],
    baseline: CellId,
    candidate: CellId,
    twin: Option<CellId>,
    confidence: f64,
) -> Draft {
    let paired = Paired::new(counted, baseline, candidate, twin);
    let (rows, evidence) = rows(data, metrics, &paired, confidence);
    let seen = seen::difference(data, candidate, baseline, &rows, confidence);
    let contrast = Contrast { baseline, candidate, twin: paired.twin, rows, by_request: Vec::new(), seen };
    Draft { contrast, evidence }
}

/// The rows of these metrics, not judged yet.
pub fn rows(
    data: &RunData,
    metrics: &[Metric],
    paired: &Paired<'_>,
    confidence: f64,
) -> (Vec<Row>, Vec<Evidence>) {
    let plan = &data.run.experiment.plan;
    let margin = plan.margin.unwrap_or(Margin::DEFAULT);
    metrics.iter().filter_map(|metric| row(metric, paired, plan.seed, confidence, margin)).unzip()
}

fn row(
    metric: &Metric,
    paired: &Paired<'_>,
    seed: u64,
    confidence: f64,
    margin: Margin,
) -> Option<(Row, Evidence)> {
    let of_deployments = paired.of_deployments(metric);
    let paired = of_deployments.as_ref().unwrap_or(paired);
    let compared = Compared::new(metric, paired)?;
    let (scale, baseline, distance) = (compared.scale, compared.baseline_figure(), compared.whole());
    let difference = scale.difference(distance, baseline);
    if !baseline.is_finite() || !difference.is_finite() {
        return None;
    }
    let spread = compared.spread(seed, |weights| compared.difference(weights));
    let withheld = no_interval(metric, paired, &compared, spread.as_ref());
    let spread = spread.filter(|_| withheld.is_none());
    let note = withheld.or_else(|| one_deployment(paired));
    let margin = margin.of(baseline, metric.unit);
    let evidence = Evidence {
        spread: spread.filter(|_| note.is_none()),
        blocks: paired.count(),
        scale,
        higher_is: metric.higher_is,
    };
    let row = Row {
        metric: metric.id.to_string(),
        label: metric.label.to_string(),
        primary: metric.is_primary || (metric.id == THROTTLED && difference != 0.0),
        unit: metric.unit,
        baseline,
        candidate: baseline + difference,
        difference,
        relative: (baseline != 0.0).then(|| difference / baseline),
        interval: spread.map(|spread| verdicts::interval(&spread, confidence, scale, baseline)),
        degrees_of_freedom: spread.map(|spread| spread.degrees_of_freedom),
        p_holm: None,
        margin,
        p_equivalent: None,
        bound: None,
        resolution: None,
        first_attempts: None,
        verdict: Verdict::Unresolved,
        trusted: false,
        note: note.map(Statement::of),
        block_differences: paired.units.iter().flat_map(|unit| differences(metric, unit)).collect(),
    };
    Some((row, evidence))
}

/// Why nothing is claimed although there is an interval, if so.
pub fn one_deployment(paired: &Paired<'_>) -> Option<Remark> {
    (paired.deployments() < 2).then_some(Remark::OneDeployment)
}

/// Why there is no interval, if so.
pub fn no_interval(
    metric: &Metric,
    paired: &Paired<'_>,
    compared: &Compared,
    spread: Option<&Bootstrap>,
) -> Option<Remark> {
    if paired.count() < MIN_BLOCKS {
        return Some(Remark::FewBlocks { blocks: paired.count(), least: MIN_BLOCKS });
    }
    let cells = || compared.sides().map(|(_, cell)| cell);
    let events = cells().filter_map(Prepared::events).reduce(f64::max);
    if let Some(events) =
        events.filter(|events| metric.higher_is == HigherIs::More && (0.5..LEAST_EVENTS).contains(events))
    {
        return Some(Remark::FewEvents { events, least: LEAST_EVENTS });
    }
    few_beyond(cells())
        .or_else(|| carried(metric, paired, compared, spread))
        .or_else(|| two_kinds(metric, paired, spread))
}

/// Why nothing can be claimed of a quantile, if so.
pub fn few_beyond<'a>(cells: impl IntoIterator<Item = &'a Prepared>) -> Option<Remark> {
    let beyond = cells.into_iter().filter_map(Prepared::beyond).fold(f64::INFINITY, f64::min);
    (beyond < LEAST_BEYOND).then_some(Remark::FewBeyond { requests: beyond, least: LEAST_BEYOND })
}
