//! Claims in words: what somebody said, what this run says of it, and our figure beside it.

use loadline_model::result::{ClaimJudgement, ClaimResult, Finding, RunResult, Unit};

use crate::figures::{self, Scale};
use crate::groups;
use crate::verdict::Tone;
use crate::words::said;

/// A claim as a report shows it.
pub(crate) struct ClaimLine {
    pub word: &'static str,
    pub tone: Tone,
    pub text: String,
    /// `response mean, nodePort at 100/min: +0.05 ms [+0.03, +0.07]; claimed +3.60 ms to +5.40 ms`
    pub findings: Vec<String>,
}

/// All claims of the run.
pub(crate) fn lines(result: &RunResult) -> Vec<ClaimLine> {
    result.claims.iter().map(|claim| line(result, claim)).collect()
}

fn line(result: &RunResult, claim: &ClaimResult) -> ClaimLine {
    let tone = match claim.judgement {
        ClaimJudgement::Confirmed => Tone::Good,
        ClaimJudgement::Refuted => Tone::Bad,
        ClaimJudgement::OutOfReach => Tone::Unsure,
    };
    let findings = claim.findings.iter().map(|finding| found(result, claim, finding)).collect();
    ClaimLine { word: word(claim.judgement), tone, text: claim.text.clone(), findings }
}

fn word(judgement: ClaimJudgement) -> &'static str {
    match judgement {
        ClaimJudgement::Confirmed => "confirmed",
        ClaimJudgement::Refuted => "refuted",
        ClaimJudgement::OutOfReach => "out of this run's reach",
    }
}

fn found(result: &RunResult, claim: &ClaimResult, finding: &Finding) -> String {
    let cell = &result.cells[finding.cell];
    let baseline = finding.against.and_then(|baseline| result.cell(baseline));
    let what = if let Some(baseline) = baseline {
        format!("{}, {}", claim.metric, groups::contrast_name(result, cell, baseline))
    } else if groups::groups(result).len() > 1 {
        format!("{}, {}", claim.metric, groups::cell_name(result, cell))
    } else {
        format!("{}, {}", claim.metric, cell.label)
    };
    let [least, most] = finding.claimed;
    let ends = finding.interval.unwrap_or_default();
    let own = Scale::of(Unit::Nanoseconds, &[finding.found.unwrap_or(0.0)])
        .with_uncertainty((ends[1] - ends[0]) / 2.0);
    let theirs = Scale::of(Unit::Nanoseconds, &[least, most]);
    let show = |scale: Scale, value: f64| match finding.is_share {
        true => figures::percent(value),
        false => scale.difference(value),
    };
    let range = |[low, high]: [f64; 2]| match finding.is_share {
        true => format!("[{}, {}]", figures::percent(low), figures::percent(high)),
        false => own.bare_interval([low, high]),
    };
    let note = finding.note.as_ref().map(said);
    let figure = match (finding.found, finding.interval) {
        (Some(found), Some(ends)) => format!("{} {}", show(own, found), range(ends)),
        (Some(found), None) => {
            let why = note.as_deref().unwrap_or("it has no interval");
            format!("{} ({why})", show(own, found))
        }
        _ => note.as_deref().unwrap_or("not measured").to_owned(),
    };
    let own_word = match claim.findings.len() {
        0 | 1 => String::new(),
        _ => format!(": {}", word(finding.judgement)),
    };
    format!("{what}: {figure}; claimed {} to {}{own_word}", show(theirs, least), show(theirs, most))
}
