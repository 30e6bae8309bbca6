//! Claims: the claimed figure computed from this run with its interval, and whether the two agree.
//!
//! Confirmed is an interval that lies within what is claimed, refuted one that lies outside at the level of a claim; everything else is out of
//! this run's reach. A
//! claim about several cells is confirmed where each of them confirms it, which needs no correction (R. L. Berger, "Multiparameter
//! Hypothesis Testing and Acceptance Sampling", Technometrics 24 (1982)), and refuted where one refutes it, for which the cells are
//! corrected by Holm's method. Different claims are not corrected for each other: each is a statement of its own.

mod estimate;

use loadline_model::CellId;
use loadline_model::experiment::{Claim, Says};
use loadline_model::plan::ContrastPlan;
use loadline_stats::{Levels, holm};

use crate::RunData;
use crate::counted::Counted;
use crate::joint::of_cell;
use crate::metrics::{self, Metric};
use crate::result::{ClaimJudgement, ClaimResult, Finding, Statement, Trust, Unit};
use estimate::Judged;

/// A share cannot be compared where the baselines differ by more than this factor.
const FARTHEST_BASELINE: f64 = 2.0;

/// What this run says of each claim of its experiment.
pub fn claims(data: &RunData, counted: &Counted<'_>, trust: &Trust, confidence: f64) -> Vec<ClaimResult> {
    let run = Judged { data, counted, trust, confidence };
    let levels = Levels::at(confidence);
    let metrics = metrics::of_run(data);
    let judge = |claim: &Claim| {
        let metric = metrics.iter().find(|metric| metric.id == claim.metric);
        // What no probe of the run could read is in none of its contrasts.
        let mut findings: Vec<Finding> = metric
            .map(|metric| {
                contrasts(data, claim).map(|contrast| finding(&run, claim, metric, contrast)).collect()
            })
            .unwrap_or_default();
        correct(&mut findings);
        for finding in &mut findings {
            finding.judgement = judgement(finding, claim.baseline, levels.difference);
        }
        let judgement = overall(&findings);
        ClaimResult {
            text: claim.text.clone(),
            metric: metric.map_or(&*claim.metric, |metric| &metric.label).to_owned(),
            metric_unit: metric.map_or(Unit::Count, |metric| metric.unit),
            published_in: claim.unit,
            published_baseline: claim.baseline,
            judgement,
            trusted: if findings.is_empty() { trust.trusted } else { is_trusted(judgement, &findings) },
            must: claim.must,
            findings,
        }
    };
    data.run.experiment.claims.iter().map(judge).collect()
}

/// The contrasts that a claim is about.
fn contrasts<'a>(data: &'a RunData, claim: &'a Claim) -> impl Iterator<Item = &'a ContrastPlan> {
    let (experiment, plan) = (&data.run.experiment, &data.run.plan);
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let platform = move |cell: CellId| &experiment.platform(plan.site_of(cell).platform).name;
    let about = move |contrast: &&ContrastPlan| {
        let cell = contrast.candidate;
        is(&claim.platform, platform(cell))
            && is(&claim.against, platform(contrast.baseline))
            && is(&claim.service, &experiment.service(plan.site_of(cell).service).name)
            && (claim.loads.is_empty() || claim.loads.contains(&plan.load_of(cell)))
    };
    plan.planned_contrasts().filter(about)
}

fn finding(run: &Judged<'_>, claim: &Claim, metric: &Metric, contrast: &ContrastPlan) -> Finding {
    let (cell, base) = (contrast.candidate, contrast.baseline);
    let (claimed, is_share, estimate) = match &claim.says {
        Says::Difference { from_ns, to_ns } => {
            let claimed = [*from_ns, *to_ns];
            (claimed, false, run.difference(metric, base, cell, false, claimed))
        }
        Says::Share { from, to } => {
            ([*from, *to], true, run.difference(metric, base, cell, true, [*from, *to]))
        }
        Says::Closes { of, from, to } => ([*from, *to], true, run.closed(metric, contrast, of, [*from, *to])),
    };
    // Where a cell is compared with one other alone, that need not be named.
    let against = is_compared_with_several(run.data, cell).then_some(base);
    Finding {
        cell,
        against,
        claimed,
        is_share,
        found: estimate.found,
        interval: estimate.interval,
        baseline: claim.baseline.and_then(|_| of_cell(run.counted, metric, base)),
        p_holm: estimate.p_within,
        trusted: run.trust.trusts(estimate.cells),
        note: estimate.note.map(Statement::of),
        judgement: ClaimJudgement::OutOfReach,
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

fn judgement(finding: &Finding, published: Option<[f64; 2]>, alpha: f64) -> ClaimJudgement {
    let [least, most] = finding.claimed;
    let is_far = |(ours, [low, high]): (f64, [f64; 2])| {
        ours > FARTHEST_BASELINE * high || ours * FARTHEST_BASELINE < low
    };
    if finding.is_share && finding.baseline.zip(published).is_some_and(is_far) {
        return ClaimJudgement::NotComparable;
    }
    match (finding.interval, finding.p_holm) {
        (Some([low, high]), Some(_)) if least <= low && high <= most => ClaimJudgement::Confirmed,
        (Some([low, high]), Some(p)) if (high < least || most < low) && p < alpha => ClaimJudgement::Refuted,
        _ => ClaimJudgement::OutOfReach,
    }
}

/// One refutation that can be trusted is enough; for everything else all findings must be.
fn is_trusted(judgement: ClaimJudgement, findings: &[Finding]) -> bool {
    let mut findings = findings.iter();
    match judgement {
        ClaimJudgement::Refuted => findings.any(|finding| finding.trusted && finding.judgement == judgement),
        _ => findings.all(|finding| finding.trusted),
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
            trusted: true,
            note: None,
            judgement: ClaimJudgement::OutOfReach,
        }
    }

    fn judged(interval: Option<[f64; 2]>, p_holm: f64) -> ClaimJudgement {
        judgement(&found(interval, p_holm), None, Levels::DEFAULT.difference)
    }

    #[test]
    fn an_interval_within_the_claim_confirms_it_and_one_outside_refutes_it() {
        assert_eq!(judged(Some([4.5, 5.5]), 1.0), ClaimJudgement::Confirmed);
        assert_eq!(judged(Some([0.1, 0.2]), 0.001), ClaimJudgement::Refuted);
        assert_eq!(judged(Some([6.1, 9.0]), 0.019), ClaimJudgement::Refuted);
        assert_eq!(judged(Some([3.0, 5.0]), 1.0), ClaimJudgement::OutOfReach);
        assert_eq!(judged(None, 1.0), ClaimJudgement::OutOfReach);
    }

    #[test]
    fn what_is_not_significant_among_several_cells_refutes_nothing() {
        assert_eq!(judged(Some([6.1, 9.0]), 0.03), ClaimJudgement::OutOfReach);
    }

    #[test]
    fn a_share_of_a_baseline_far_from_the_published_one_is_not_comparable() {
        let share = |ours| Finding { is_share: true, baseline: Some(ours), ..found(Some([4.5, 5.5]), 1.0) };
        let judged = |finding: &Finding| judgement(finding, Some([10.0, 20.0]), Levels::DEFAULT.difference);
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

    #[test]
    fn a_refutation_that_can_be_trusted_is_enough_and_all_else_needs_every_finding() {
        use ClaimJudgement::*;
        let is_trusted = |judgement, findings: &[(ClaimJudgement, bool)]| {
            let with = |(judgement, trusted): &(ClaimJudgement, bool)| Finding {
                judgement: *judgement,
                trusted: *trusted,
                ..found(None, 1.0)
            };
            is_trusted(judgement, &findings.iter().map(with).collect::<Vec<_>>())
        };
        assert!(is_trusted(Refuted, &[(Refuted, true), (Confirmed, false)]));
        assert!(!is_trusted(Refuted, &[(Refuted, false), (Confirmed, true)]));
        assert!(!is_trusted(Confirmed, &[(Confirmed, true), (Confirmed, false)]));
        assert!(is_trusted(Confirmed, &[(Confirmed, true)]));
    }
}
