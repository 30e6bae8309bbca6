//! Claims: the claimed figure computed from this run with its interval, and whether the two agree.
//!
//! Confirmed is an interval that lies within what is claimed, refuted one that lies outside; everything else is out of this run's reach. A
//! claim about several cells is confirmed where each of them confirms it, which needs no correction (R. L. Berger, "Multiparameter
//! Hypothesis Testing and Acceptance Sampling", Technometrics 24 (1982)), and refuted where one refutes it, for which the cells are
//! corrected by Holm's method. Different claims are not corrected for each other: each is a statement of its own.

use loadline_model::CellId;
use loadline_model::experiment::{Claim, Says};
use loadline_model::plan::ContrastPlan;
use loadline_stats::{Bootstrap, holm};

use crate::joint::{Joint, joint, of_cell};
use crate::metrics::{self, Metric};
use crate::result::{ClaimJudgement, ClaimResult, Finding, Remark, Statement};
use crate::sample::Counted;
use crate::{ALPHA, RunData};

/// A share cannot be compared where the baselines differ by more than this factor.
const FARTHEST_BASELINE: f64 = 2.0;

/// What this run says of each claim of its experiment.
pub fn claims(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<ClaimResult> {
    let metrics = metrics::of_run(&data.run);
    let judge = |claim: &Claim| {
        // The spec names no metric that a run does not have.
        let metric = metrics.iter().find(|metric| metric.id == claim.metric)?;
        let mut findings: Vec<Finding> = contrasts(data, claim)
            .into_iter()
            .map(|contrast| finding(data, counted, claim, metric, contrast, confidence))
            .collect();
        correct(&mut findings);
        for finding in &mut findings {
            finding.judgement = judgement(finding, claim.baseline, ALPHA.min(1.0 - confidence));
        }
        Some(ClaimResult {
            text: claim.text.clone(),
            metric: metric.label.to_string(),
            metric_unit: metric.unit,
            published_in: claim.unit,
            published_baseline: claim.baseline,
            judgement: overall(&findings),
            findings,
        })
    };
    data.run.experiment.claims.iter().filter_map(judge).collect()
}

/// The contrasts that a claim is about.
fn contrasts<'a>(data: &'a RunData, claim: &Claim) -> Vec<&'a ContrastPlan> {
    let (experiment, plan) = (&data.run.experiment, &data.run.plan);
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let platform = |cell: CellId| &experiment.platform(plan.site_of(cell).platform).name;
    let about = |contrast: &&ContrastPlan| {
        let cell = contrast.candidate;
        is(&claim.platform, platform(cell))
            && is(&claim.against, platform(contrast.baseline))
            && is(&claim.service, &experiment.service(plan.site_of(cell).service).name)
            && (claim.loads.is_empty() || claim.loads.contains(&plan.load_of(cell)))
    };
    plan.planned_contrasts().filter(about).collect()
}

fn finding(
    data: &RunData,
    counted: &Counted<'_>,
    claim: &Claim,
    metric: &Metric,
    contrast: &ContrastPlan,
    confidence: f64,
) -> Finding {
    let (cell, base) = (contrast.candidate, contrast.baseline);
    let (claimed, is_share, involved) = match &claim.says {
        Says::Difference { from_ns, to_ns } => ([*from_ns, *to_ns], false, Some(vec![base, cell])),
        Says::Share { from, to } => ([*from, *to], true, Some(vec![base, cell])),
        Says::Closes { of, from, to } => {
            let other = sibling(data, cell, of).filter(|other| *other != base);
            ([*from, *to], true, other.map(|other| vec![base, cell, other]))
        }
    };
    let figure = |figures: &[f64]| match &claim.says {
        Says::Difference { .. } => figures[1] - figures[0],
        Says::Share { .. } => (figures[1] - figures[0]) / figures[0],
        // Of the other's difference to the baseline, what this one lacks.
        Says::Closes { .. } => (figures[2] - figures[1]) / (figures[2] - figures[0]),
    };
    let estimate = |cells: &[CellId], figure: &dyn Fn(&[f64]) -> f64| {
        joint(counted, metric, cells, data.run.experiment.plan.seed, confidence, figure)
    };
    let no_gap = match (&claim.says, involved.as_deref()) {
        (Says::Closes { of, .. }, Some([base, _, other])) => {
            let gap = estimate(&[*base, *other], &|figures| figures[1] - figures[0]).interval;
            let is_gap = gap.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
            (!is_gap).then(|| Remark::NoGap { of: of.clone() })
        }
        _ => None,
    };
    let Joint { found, interval, spread, note } = match (involved, no_gap) {
        (Some(cells), None) => estimate(&cells, &figure),
        (_, note) => Joint { note, ..Joint::default() },
    };
    let baseline = claim.baseline.and_then(|_| of_cell(counted, metric, base));
    // Where a cell is compared with one other alone, that need not be named.
    let against = is_compared_with_several(data, cell).then_some(base);
    Finding {
        cell,
        against,
        claimed,
        is_share,
        found,
        interval,
        baseline,
        p_holm: spread.map(|spread| p_within(&spread, claimed)),
        note: note.map(Statement::of),
        judgement: ClaimJudgement::OutOfReach,
    }
}

/// The p-value of "the figure lies within what is claimed".
fn p_within(spread: &Bootstrap, [least, most]: [f64; 2]) -> f64 {
    match spread.estimate {
        estimate if estimate < least => spread.p_value_of(least),
        estimate if estimate > most => spread.p_value_of(most),
        _ => 1.0,
    }
}

/// Holm's correction over the findings of a claim.
fn correct(findings: &mut [Finding]) {
    let plain: Vec<f64> = findings.iter().filter_map(|finding| finding.p_holm).collect();
    let with_p = findings.iter_mut().filter(|finding| finding.p_holm.is_some());
    for (finding, corrected) in with_p.zip(holm(&plain)) {
        finding.p_holm = Some(corrected);
    }
}

fn is_compared_with_several(data: &RunData, cell: CellId) -> bool {
    data.run.plan.planned_contrasts().filter(|contrast| contrast.candidate == cell).count() > 1
}

/// The cell of another platform with the same service and load.
fn sibling(data: &RunData, cell: CellId, platform: &str) -> Option<CellId> {
    let plan = &data.run.plan;
    plan.cell_ids().find(|other| {
        let site = plan.site_of(*other);
        plan.load_of(*other) == plan.load_of(cell)
            && !site.twin
            && site.service == plan.site_of(cell).service
            && data.run.experiment.platform(site.platform).name == platform
    })
}

fn judgement(finding: &Finding, published: Option<[f64; 2]>, alpha: f64) -> ClaimJudgement {
    let [least, most] = finding.claimed;
    let is_far = |(ours, [low, high]): (f64, [f64; 2])| {
        ours > FARTHEST_BASELINE * high || ours * FARTHEST_BASELINE < low
    };
    if finding.is_share && finding.baseline.zip(published).is_some_and(is_far) {
        return ClaimJudgement::NotComparable;
    }
    match (finding.interval, finding.p_holm) {
        (Some([low, high]), _) if least <= low && high <= most => ClaimJudgement::Confirmed,
        (Some([low, high]), Some(p)) if (high < least || most < low) && p < alpha => ClaimJudgement::Refuted,
        _ => ClaimJudgement::OutOfReach,
    }
}

fn overall(findings: &[Finding]) -> ClaimJudgement {
    let any = |judgement| findings.iter().any(|finding| finding.judgement == judgement);
    if any(ClaimJudgement::Refuted) {
        ClaimJudgement::Refuted
    } else if any(ClaimJudgement::NotComparable) {
        ClaimJudgement::NotComparable
    } else if any(ClaimJudgement::OutOfReach) || findings.is_empty() {
        ClaimJudgement::OutOfReach
    } else {
        ClaimJudgement::Confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(interval: Option<[f64; 2]>, p_holm: f64) -> Finding {
        Finding {
            cell: CellId(1),
            against: None,
            claimed: [4.0, 6.0],
            is_share: false,
            found: interval.map(|[low, high]| (low + high) / 2.0),
            interval,
            baseline: None,
            p_holm: interval.map(|_| p_holm),
            note: None,
            judgement: ClaimJudgement::OutOfReach,
        }
    }

    fn judged(interval: Option<[f64; 2]>, p_holm: f64) -> ClaimJudgement {
        judgement(&found(interval, p_holm), None, 0.05)
    }

    #[test]
    fn an_interval_within_the_claim_confirms_it_and_one_outside_refutes_it() {
        assert_eq!(judged(Some([4.5, 5.5]), 1.0), ClaimJudgement::Confirmed);
        assert_eq!(judged(Some([0.1, 0.2]), 0.001), ClaimJudgement::Refuted);
        assert_eq!(judged(Some([6.1, 9.0]), 0.04), ClaimJudgement::Refuted);
        assert_eq!(judged(Some([3.0, 5.0]), 1.0), ClaimJudgement::OutOfReach);
        assert_eq!(judged(None, 1.0), ClaimJudgement::OutOfReach);
    }

    #[test]
    fn what_is_not_significant_among_several_cells_refutes_nothing() {
        assert_eq!(judged(Some([6.1, 9.0]), 0.06), ClaimJudgement::OutOfReach);
    }

    #[test]
    fn a_share_of_a_baseline_far_from_the_published_one_is_not_comparable() {
        let share = |ours| Finding { is_share: true, baseline: Some(ours), ..found(Some([4.5, 5.5]), 1.0) };
        let judged = |finding: &Finding| judgement(finding, Some([10.0, 20.0]), 0.05);
        assert_eq!(judged(&share(4.9)), ClaimJudgement::NotComparable);
        assert_eq!(judged(&share(41.0)), ClaimJudgement::NotComparable);
        assert_eq!(judged(&share(5.1)), ClaimJudgement::Confirmed);
        assert_eq!(judged(&share(39.0)), ClaimJudgement::Confirmed);
        let absolute = Finding { is_share: false, ..share(1.0) };
        assert_eq!(judged(&absolute), ClaimJudgement::Confirmed);
    }

    #[test]
    fn a_claim_holds_where_each_cell_confirms_it_and_falls_with_one() {
        use ClaimJudgement::*;
        let overall = |judgements: &[ClaimJudgement]| {
            let with = |judgement: &ClaimJudgement| Finding { judgement: *judgement, ..found(None, 1.0) };
            overall(&judgements.iter().map(with).collect::<Vec<_>>())
        };
        assert_eq!(overall(&[Confirmed, Confirmed]), Confirmed);
        assert_eq!(overall(&[Confirmed, NotComparable, Refuted]), Refuted);
        assert_eq!(overall(&[Confirmed, NotComparable, OutOfReach]), NotComparable);
        assert_eq!(overall(&[Confirmed, OutOfReach]), OutOfReach);
        assert_eq!(overall(&[]), OutOfReach);
    }
}
