//! Claims: the claimed figure computed from this run with its interval, and whether the two agree.
//!
//! Confirmed is an interval that lies within what is claimed, refuted one that lies outside; everything else is out of this run's reach.
//! No correction for many claims: each is a statement of its own, judged at the confidence of the run's intervals.

use loadline_model::CellId;
use loadline_model::experiment::{Claim, Says};
use loadline_model::plan::ContrastPlan;

use crate::RunData;
use crate::joint::{Joint, joint};
use crate::metrics::{self, Metric};
use crate::result::{ClaimJudgement, ClaimResult, Finding, Remark, Statement};
use crate::sample::Counted;

/// What this run says of each claim of its experiment.
pub fn claims(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<ClaimResult> {
    let metrics = metrics::of_run(&data.run);
    let judge = |claim: &Claim| {
        // The spec names no metric that a run does not have.
        let metric = metrics.iter().find(|metric| metric.id == claim.metric)?;
        let findings: Vec<Finding> = contrasts(data, claim)
            .into_iter()
            .map(|contrast| finding(data, counted, claim, metric, contrast, confidence))
            .collect();
        let judgement = overall(&findings);
        Some(ClaimResult { text: claim.text.clone(), metric: metric.label.to_string(), judgement, findings })
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
    let Joint { found, interval, note, .. } = match (involved, no_gap) {
        (Some(cells), None) => estimate(&cells, &figure),
        (_, note) => Joint { note, ..Joint::default() },
    };
    let note = note.map(Statement::of);
    // Where a cell is compared with one other alone, that need not be named.
    let against = is_compared_with_several(data, cell).then_some(base);
    Finding { cell, against, claimed, is_share, found, interval, note, judgement: judge(claimed, interval) }
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

fn judge(claimed: [f64; 2], interval: Option<[f64; 2]>) -> ClaimJudgement {
    match interval {
        Some([low, high]) if claimed[0] <= low && high <= claimed[1] => ClaimJudgement::Confirmed,
        Some([low, high]) if high < claimed[0] || claimed[1] < low => ClaimJudgement::Refuted,
        _ => ClaimJudgement::OutOfReach,
    }
}

fn overall(findings: &[Finding]) -> ClaimJudgement {
    let all =
        |judgement| !findings.is_empty() && findings.iter().all(|finding| finding.judgement == judgement);
    if findings.iter().any(|finding| finding.judgement == ClaimJudgement::Refuted) {
        ClaimJudgement::Refuted
    } else if all(ClaimJudgement::Confirmed) {
        ClaimJudgement::Confirmed
    } else {
        ClaimJudgement::OutOfReach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_within_the_claim_confirms_it_and_one_outside_refutes_it() {
        let claimed = [4.0, 6.0];
        assert_eq!(judge(claimed, Some([4.5, 5.5])), ClaimJudgement::Confirmed);
        assert_eq!(judge(claimed, Some([0.1, 0.2])), ClaimJudgement::Refuted);
        assert_eq!(judge(claimed, Some([6.1, 9.0])), ClaimJudgement::Refuted);
        assert_eq!(judge(claimed, Some([3.0, 5.0])), ClaimJudgement::OutOfReach);
        assert_eq!(judge(claimed, None), ClaimJudgement::OutOfReach);
    }
}
