//! Conditions on which a run fails: each holds where the interval of a row proves it.
//!
//! The whole interval has to lie beyond the amount, and the row has to claim a difference: a condition never holds where the table says
//! that nothing is claimed, such as after Holm's correction. Without an amount the condition is the verdict itself, so that what is
//! equivalent does not hold.

use loadline_model::experiment::{Amount, CAPACITY, Condition, Direction};

use crate::RunData;
use crate::metrics::{self, Metric, verdict};
use crate::result::{ConditionFinding, ConditionJudgement, ConditionResult, Contrast, Row, Unit, Verdict};

/// What this run says of each condition of its experiment, by what it compares; of a search, each cell at its own capacity.
pub fn conditions(data: &RunData, contrasts: &[Contrast]) -> Vec<ConditionResult> {
    let metrics = metrics::of_run(data);
    let judge = |condition: &Condition| {
        let metric = metrics.iter().find(|metric| metric.id == condition.metric);
        judged(condition, metric, contrasts)
    };
    data.run.experiment.fail_if.iter().map(judge).collect()
}

fn judged(condition: &Condition, metric: Option<&Metric>, contrasts: &[Contrast]) -> ConditionResult {
    let findings = contrasts.iter().enumerate();
    let findings: Vec<ConditionFinding> =
        findings.map(|(at, contrast)| finding(condition, at, contrast)).collect();
    let is_capacity = condition.metric == CAPACITY;
    let (by, is_share) = match condition.by {
        Amount::Share(share) => (share, true),
        Amount::Figure(figure) => (figure, false),
    };
    ConditionResult {
        text: condition.text.clone(),
        metric: condition.metric.clone(),
        label: metric.map_or(&*condition.metric, |metric| metric.label.trim()).to_owned(),
        unit: match metric {
            Some(metric) => metric.unit,
            None if is_capacity => Unit::PerSecond,
            None => Unit::Count,
        },
        verdict: verdict(condition.higher_is(), condition.direction == Direction::Higher),
        by,
        is_share,
        judgement: match overall(&findings) {
            // What carries nothing at all has no capacity, and has not passed.
            ConditionJudgement::Open if is_capacity && findings.iter().any(is_not_measured) => {
                ConditionJudgement::NotMeasured
            }
            judgement => judgement,
        },
        findings,
    }
}

fn is_not_measured(finding: &ConditionFinding) -> bool {
    finding.judgement == ConditionJudgement::NotMeasured
}

fn finding(condition: &Condition, at: usize, contrast: &Contrast) -> ConditionFinding {
    let Some(row) = contrast.rows.iter().find(|row| row.metric == condition.metric) else {
        let judgement = ConditionJudgement::NotMeasured;
        return ConditionFinding { contrast: at, found: None, interval: None, judgement };
    };
    let per = match condition.by {
        Amount::Share(_) => row.baseline.abs(),
        Amount::Figure(_) => 1.0,
    };
    let is_known = per > 0.0;
    ConditionFinding {
        contrast: at,
        found: is_known.then(|| row.difference / per),
        interval: row.interval.filter(|_| is_known).map(|ends| ends.map(|end| end / per)),
        judgement: match row.trusted {
            true => judgement(row, condition.direction, condition.by.of(row.baseline)),
            false => ConditionJudgement::NotTrusted,
        },
    }
}

/// `beyond`: the amount in the row's unit.
fn judgement(row: &Row, direction: Direction, beyond: f64) -> ConditionJudgement {
    // Of what nothing may be claimed there is no p-value.
    let Some([low, high]) = row.interval.filter(|_| row.p_holm.is_some()) else {
        return ConditionJudgement::Open;
    };
    // What is lower is judged as what is higher, in a mirror.
    let [least, most] = match direction {
        Direction::Higher => [low, high],
        Direction::Lower => [-high, -low],
    };
    let is_equivalent = row.verdict == Verdict::Equivalent;
    if least > beyond && row.verdict != Verdict::Unresolved && (!is_equivalent || beyond > 0.0) {
        ConditionJudgement::Holds
    } else if most <= beyond || (is_equivalent && beyond == 0.0) {
        ConditionJudgement::RuledOut
    } else {
        ConditionJudgement::Open
    }
}

/// It holds where one finding holds, and is ruled out where each one rules it out.
fn overall(findings: &[ConditionFinding]) -> ConditionJudgement {
    use ConditionJudgement::{Holds, NotMeasured, NotTrusted, Open, RuledOut};
    let any = |judgement| findings.iter().any(|finding| finding.judgement == judgement);
    let all = |judgement| findings.iter().all(|finding| finding.judgement == judgement);
    if all(NotMeasured) {
        NotMeasured
    } else if any(Holds) {
        Holds
    } else if any(NotTrusted) {
        NotTrusted
    } else if all(RuledOut) {
        RuledOut
    } else {
        Open
    }
}

#[cfg(test)]
mod tests {
    use super::ConditionJudgement::*;
    use super::Direction::{Higher, Lower};
    use super::*;

    fn row(interval: [f64; 2], verdict: Verdict) -> Row {
        Row {
            metric: "response.p99".to_owned(),
            label: "response p99".to_owned(),
            primary: true,
            unit: Unit::Nanoseconds,
            baseline: 100.0,
            candidate: 100.0 + (interval[0] + interval[1]) / 2.0,
            difference: (interval[0] + interval[1]) / 2.0,
            relative: None,
            interval: Some(interval),
            degrees_of_freedom: None,
            p_holm: Some(0.01),
            margin: 1.0,
            p_equivalent: None,
            bound: None,
            resolution: None,
            first_attempts: None,
            verdict,
            trusted: true,
            note: None,
            block_differences: Vec::new(),
        }
    }

    #[test]
    fn the_whole_interval_has_to_lie_beyond_the_amount() {
        let judged = |interval| judgement(&row(interval, Verdict::Slower), Higher, 5.0);
        assert_eq!(judged([5.1, 9.0]), Holds);
        assert_eq!(judged([5.0, 9.0]), Open);
        assert_eq!(judged([1.0, 5.1]), Open);
        assert_eq!(judged([1.0, 5.0]), RuledOut);
        assert_eq!(judged([-9.0, -5.1]), RuledOut);
    }

    #[test]
    fn what_is_lower_is_judged_the_other_way_round() {
        let judged = |interval| judgement(&row(interval, Verdict::Faster), Lower, 5.0);
        assert_eq!(judged([-9.0, -5.1]), Holds);
        assert_eq!(judged([-9.0, -5.0]), Open);
        assert_eq!(judged([-5.0, -1.0]), RuledOut);
        assert_eq!(judged([5.1, 9.0]), RuledOut);
    }

    #[test]
    fn where_the_row_claims_nothing_nothing_holds() {
        let beyond = [6.0, 9.0];
        assert_eq!(judgement(&row(beyond, Verdict::Unresolved), Higher, 5.0), Open);
        let one_deployment = Row { p_holm: None, ..row(beyond, Verdict::Unresolved) };
        assert_eq!(judgement(&one_deployment, Higher, 5.0), Open);
        assert_eq!(judgement(&one_deployment, Lower, 5.0), Open, "and nothing is ruled out");
        assert_eq!(judgement(&Row { interval: None, ..one_deployment }, Higher, 5.0), Open);
    }

    #[test]
    fn without_an_amount_the_condition_is_the_verdict() {
        let judged = |interval, verdict| judgement(&row(interval, verdict), Higher, 0.0);
        assert_eq!(judged([0.2, 0.6], Verdict::Equivalent), RuledOut);
        assert_eq!(judged([2.0, 3.0], Verdict::Slower), Holds);
        assert_eq!(judged([-1.0, 3.0], Verdict::Unresolved), Open);
        assert_eq!(judged([-3.0, -2.0], Verdict::Faster), RuledOut);
        // An amount below the margin was asked for on purpose.
        assert_eq!(judgement(&row([0.2, 0.6], Verdict::Equivalent), Higher, 0.1), Holds);
    }

    #[test]
    fn one_comparison_is_enough_to_hold_and_all_are_needed_to_rule_out() {
        let overall = |judgements: &[ConditionJudgement]| {
            let of = |judgement: &ConditionJudgement| ConditionFinding {
                contrast: 0,
                found: None,
                interval: None,
                judgement: *judgement,
            };
            overall(&judgements.iter().map(of).collect::<Vec<_>>())
        };
        assert_eq!(overall(&[RuledOut, Open, Holds]), Holds);
        assert_eq!(overall(&[RuledOut, RuledOut]), RuledOut);
        assert_eq!(overall(&[RuledOut, Open]), Open);
        assert_eq!(overall(&[RuledOut, NotMeasured]), Open);
        assert_eq!(overall(&[NotMeasured, NotTrusted]), NotTrusted);
        assert_eq!(overall(&[NotMeasured, NotMeasured]), NotMeasured);
        assert_eq!(overall(&[]), NotMeasured, "nothing was compared");
    }
}
