//! Invented results with conditions of every outcome.

use super::*;

fn condition(text: &str, metric: &str, verdict: Verdict, by: f64, is_share: bool) -> ConditionResult {
    ConditionResult {
        text: text.to_owned(),
        metric: metric.to_owned(),
        label: metric.replace('.', " "),
        unit: Unit::Nanoseconds,
        verdict,
        by,
        is_share,
        judgement: ConditionJudgement::NotMeasured,
        findings: Vec::new(),
    }
}

/// With a finding in each contrast, whose figures are those of its row.
fn found(
    result: &RunResult,
    condition: ConditionResult,
    judgements: &[ConditionJudgement],
    overall: ConditionJudgement,
) -> ConditionResult {
    let finding = |(contrast, judgement): (usize, &ConditionJudgement)| {
        let row = result.contrasts[contrast].rows.iter().find(|row| row.metric == condition.metric);
        let per = row.filter(|_| condition.is_share).map_or(1.0, |row| row.baseline);
        ConditionFinding {
            contrast,
            found: row.map(|row| row.difference / per),
            interval: row.and_then(|row| row.interval).map(|ends| ends.map(|end| end / per)),
            judgement: *judgement,
        }
    };
    let findings = judgements.iter().enumerate().map(finding).collect();
    ConditionResult { judgement: overall, findings, ..condition }
}

/// A pod that is slower than it may be, and one condition and claim for each other outcome.
pub fn with_conditions() -> RunResult {
    use ConditionJudgement::{Holds, NotMeasured, Open, RuledOut};
    use Verdict::{Costlier, Faster, Slower};
    let mut result = with_starts_and_claims();
    result.contrasts.truncate(1);
    let of = |condition, judgement| found(&result, condition, &[judgement], judgement);
    result.conditions = vec![
        of(condition("p50 slower by > 5%", "response.p50", Slower, 0.05, true), Holds),
        of(condition("p50 slower by > 3us", "response.p50", Slower, 3_000.0, false), Holds),
        of(condition("p50 slower by > 10%", "response.p50", Slower, 0.1, true), RuledOut),
        of(condition("p50 faster", "response.p50", Faster, 0.0, true), RuledOut),
        of(condition("p99 slower by > 5%", "response.p99", Slower, 0.05, true), Open),
        of(condition("memory.peak costlier by > 5%", "memory.peak", Costlier, 0.05, true), NotMeasured),
    ];
    // What no probe of the run declares has no label.
    result.conditions[5].label = "memory.peak".to_owned();
    for claim in &mut result.claims {
        claim.must = true;
    }
    result
}

/// The same where the gates say not to trust it.
pub fn untrusted_with_conditions() -> RunResult {
    let with = with_conditions();
    let mut result = untrusted();
    result.claims = with.claims;
    result.claims.iter_mut().for_each(|claim| claim.trusted = false);
    result.conditions = with.conditions;
    for condition in &mut result.conditions {
        condition.judgement = ConditionJudgement::NotTrusted;
        condition.findings.iter_mut().for_each(|finding| finding.judgement = ConditionJudgement::NotTrusted);
    }
    result
}

/// Thirty comparisons of which some hold, and of which none does.
pub fn with_many_conditions() -> RunResult {
    use ConditionJudgement::{Holds, Open, RuledOut};
    let mut result = six_by_six();
    let judgements = |high: ConditionJudgement, low: ConditionJudgement| -> Vec<ConditionJudgement> {
        (0..result.contrasts.len()).map(|at| if at % 15 == 14 { high } else { low }).collect()
    };
    let slower = |text: &str, by| condition(text, "response.p50", Verdict::Slower, by, true);
    let holds = found(&result, slower("p50 slower by > 0.5%", 0.005), &judgements(Holds, RuledOut), Holds);
    let open = found(&result, slower("p50 slower by > 2%", 0.02), &judgements(Open, RuledOut), Open);
    result.conditions = vec![holds, open];
    result
}
