//! Each candidate against its baseline: difference, interval, Holm's correction, verdict.

use loadline_model::CellId;
use loadline_model::metrics::HigherIs;
use loadline_model::plan::ContrastPlan;
use loadline_stats::{Bootstrap, Interval, Judgement, MIN_BLOCKS, bootstrap, holm, judge};

use crate::figures::Prepared;
use crate::metrics::{self, Metric};
use crate::result::{Contrast, Remark, Row, Statement, Verdict};
use crate::sample::{Counted, Paired};
use crate::{ALPHA, RunData, seen};

/// Resamples of the bootstrap: its standard error is then known to 1.6 % (1 ÷ √(2 × 2000)).
pub const RESAMPLES: usize = 2000;
/// Fewest requests beyond a quantile for a claim about it.
const LEAST_BEYOND: f64 = 10.0;
/// Fewest events, on either side, for a claim about a count: a handful may by chance all fall on one side.
const LEAST_EVENTS: f64 = 10.0;
/// Differences within this share of the baseline are equivalent, unless the experiment says otherwise.
const DEFAULT_MARGIN: f64 = 0.01;
/// The resolution widens the default margin up to this share: in a run too noisy to see 5 %, nothing is equivalent.
const WIDEST_MARGIN: f64 = 0.05;

/// The planned contrasts. `noise`: the twins' contrasts, which give the resolution.
pub fn contrasts(
    data: &RunData,
    counted: &Counted<'_>,
    confidence: f64,
    noise: &[Contrast],
) -> Vec<Contrast> {
    let planned = data.run.plan.planned_contrasts();
    let mut contrasts: Vec<Contrast> = planned
        .map(|ContrastPlan { candidate, baseline, .. }| {
            // A twin tells the noise of the baseline that it is the twin of, and of no other.
            let twin = noise.iter().find(|contrast| contrast.baseline == *baseline);
            let resolution = |metric: &str| {
                let row = twin?.rows.iter().find(|row| row.metric == metric)?;
                row.interval.map(|[low, high]| low.abs().max(high.abs()))
            };
            contrast(data, counted, *baseline, *candidate, confidence, &resolution)
        })
        .collect();
    if data.run.experiment.is_ladder() {
        resolve_by_width(&mut contrasts);
    }
    correct(&metrics::of_run(&data.run), &mut contrasts, confidence);
    contrasts
}

/// On a ladder few rungs have a twin below them, so a layer's resolution is what its own interval could have told from zero.
fn resolve_by_width(contrasts: &mut [Contrast]) {
    for row in contrasts.iter_mut().flat_map(|contrast| &mut contrast.rows) {
        row.resolution = row.interval.map(|[low, high]| (high - low) / 2.0);
    }
}

/// One cell against another, not corrected yet: `p_holm` holds the plain p-value.
pub fn contrast(
    data: &RunData,
    counted: &Counted<'_>,
    baseline: CellId,
    candidate: CellId,
    confidence: f64,
    resolution: &dyn Fn(&str) -> Option<f64>,
) -> Contrast {
    let paired = Paired::new(counted, baseline, candidate);
    let margin = data.run.experiment.plan.margin;
    let rows = metrics::of_run(&data.run)
        .iter()
        .filter_map(|metric| {
            row(metric, &paired, data.run.experiment.plan.seed, confidence, margin, resolution(&metric.id))
        })
        .collect::<Vec<Row>>();
    let seen = seen::difference(data, candidate, baseline, &rows, confidence);
    Contrast { baseline, candidate, rows, seen }
}

/// The data of a metric of both cells.
pub fn figures_of(metric: &Metric, paired: &Paired<'_>) -> Option<(Prepared, Prepared)> {
    let baseline = paired.units.iter().map(|unit| unit.iter().map(|pair| pair.0).collect());
    let candidate = paired.units.iter().map(|unit| unit.iter().map(|pair| pair.1).collect());
    Some((Prepared::new(metric, baseline)?, Prepared::new(metric, candidate)?))
}

fn row(
    metric: &Metric,
    paired: &Paired<'_>,
    seed: u64,
    confidence: f64,
    margin: Option<f64>,
    resolution: Option<f64>,
) -> Option<Row> {
    let (baseline, candidate) = figures_of(metric, paired)?;
    let (was, is) = (baseline.whole(), candidate.whole());
    if !was.is_finite() || !is.is_finite() {
        return None;
    }
    let note = no_claim(metric, paired, &baseline, &candidate);
    let spread = match note {
        Some(_) => None,
        None => bootstrap(paired.units.len(), RESAMPLES, seed, |weights| {
            candidate.figure(weights) - baseline.figure(weights)
        }),
    };
    let margin = match margin {
        Some(share) => share * was.abs(),
        None => default_margin(was, resolution, spread.as_ref().map(|spread| bounds(spread, confidence))),
    };
    let alone =
        |slice| Prepared::new(metric, std::iter::once(vec![slice])).map_or(f64::NAN, |data| data.whole());
    let mut row = Row {
        metric: metric.id.to_string(),
        label: metric.label.to_string(),
        primary: metric.is_primary,
        unit: metric.unit,
        baseline: was,
        candidate: is,
        difference: is - was,
        relative: (was != 0.0).then(|| (is - was) / was),
        interval: spread.as_ref().map(|spread| bounds(spread, confidence)),
        p_holm: spread.as_ref().map(Bootstrap::p_value),
        margin,
        resolution,
        first_attempts: None,
        verdict: Verdict::Unresolved,
        note: note.map(Statement::of),
        block_differences: paired
            .pairs()
            .map(|(was, is)| alone(is) - alone(was))
            .filter(|difference| difference.is_finite())
            .collect(),
    };
    row.verdict = verdict(metric, &row, paired.blocks(), confidence);
    Some(row)
}

/// 1 %, or the resolution where that is more. What is seen clearly is not called equivalent because the twin was noisy: an interval
/// without zero is held against 1 % alone.
fn default_margin(baseline: f64, resolution: Option<f64>, interval: Option<[f64; 2]>) -> f64 {
    let least = DEFAULT_MARGIN * baseline.abs();
    match interval {
        Some([low, high]) if low > 0.0 || high < 0.0 => least,
        _ => least.max(resolution.unwrap_or(0.0).min(WIDEST_MARGIN * baseline.abs())),
    }
}

/// Why nothing can be claimed, if so.
fn no_claim(
    metric: &Metric,
    paired: &Paired<'_>,
    baseline: &Prepared,
    candidate: &Prepared,
) -> Option<Remark> {
    if paired.blocks() < MIN_BLOCKS {
        return Some(Remark::FewBlocks { blocks: paired.blocks(), least: MIN_BLOCKS });
    }
    let events = baseline.events().zip(candidate.events()).map(|(was, is)| was.max(is));
    if let Some(events) =
        events.filter(|events| metric.higher_is == HigherIs::More && (0.5..LEAST_EVENTS).contains(events))
    {
        return Some(Remark::FewEvents { events, least: LEAST_EVENTS });
    }
    few_beyond([baseline, candidate])
}

/// Why nothing can be claimed of a quantile, if so.
pub(crate) fn few_beyond<'a>(cells: impl IntoIterator<Item = &'a Prepared>) -> Option<Remark> {
    let beyond = cells.into_iter().filter_map(Prepared::beyond).fold(f64::INFINITY, f64::min);
    (beyond < LEAST_BEYOND).then_some(Remark::FewBeyond { requests: beyond, least: LEAST_BEYOND })
}

pub(crate) fn bounds(spread: &Bootstrap, confidence: f64) -> [f64; 2] {
    let Interval { low, high } = spread.interval(confidence);
    [low, high]
}

fn verdict(metric: &Metric, row: &Row, blocks: usize, confidence: f64) -> Verdict {
    let (Some([low, high]), Some(p)) = (row.interval, row.p_holm) else { return Verdict::Unresolved };
    // A run with looks along the way has spent part of its error on each of them.
    let alpha = ALPHA.min(1.0 - confidence);
    match judge(Interval { low, high }, row.margin, p, alpha, blocks) {
        Judgement::Equivalent => Verdict::Equivalent,
        Judgement::Unresolved => Verdict::Unresolved,
        // What nothing at all could have produced in this run is not held against the candidate.
        _ if row.resolution.is_some_and(|resolution| row.difference.abs() < resolution) => {
            Verdict::Unresolved
        }
        Judgement::Higher => metrics::verdict(metric.higher_is, true),
        Judgement::Lower => metrics::verdict(metric.higher_is, false),
    }
}

/// Holm's correction over the contrasts of each metric, and the verdicts that follow.
fn correct(metrics: &[Metric], contrasts: &mut [Contrast], confidence: f64) {
    for metric in metrics {
        let mut rows: Vec<&mut Row> = contrasts
            .iter_mut()
            .flat_map(|contrast| contrast.rows.iter_mut())
            .filter(|row| row.metric == metric.id && row.p_holm.is_some())
            .collect();
        let plain: Vec<f64> = rows.iter().filter_map(|row| row.p_holm).collect();
        for (row, corrected) in rows.iter_mut().zip(holm(&plain)) {
            row.p_holm = Some(corrected);
            // Rows with a p-value come from at least as many blocks as a claim needs.
            row.verdict = verdict(metric, row, MIN_BLOCKS, confidence);
            let excludes_zero = row.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
            if row.verdict == Verdict::Unresolved && excludes_zero {
                let below = row.resolution.is_some_and(|resolution| row.difference.abs() < resolution);
                let remark = if below { Remark::BelowResolution } else { Remark::NotSignificant };
                row.note = Some(Statement::of(remark));
            }
        }
    }
}
