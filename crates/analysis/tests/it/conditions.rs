//! Conditions on made-up runs whose truth is known: a pod 20 µs slower than a host of 100 µs.

use crate::made_up::MadeUp;
use loadline_analysis::analyse;
use loadline_analysis::result::{ClaimJudgement, ConditionJudgement, ConditionResult, RunResult, Verdict};
use loadline_model::CellId;
use loadline_model::experiment::{Amount, Claim, Condition, Direction, Experiment, Says};
use loadline_model::gates::{GateFailure, Late};

fn condition(metric: &str, direction: Direction, by: Amount) -> Condition {
    Condition { text: "somebody's words".to_owned(), metric: metric.to_owned(), direction, by }
}

/// The conditions of every test here, in an order that they rely on.
fn with_conditions(experiment: &mut Experiment) {
    use Direction::{Higher, Lower};
    experiment.fail_if = vec![
        condition("response.p50", Higher, Amount::Share(0.1)),
        condition("response.p50", Higher, Amount::Share(0.3)),
        condition("response.p50", Higher, Amount::Share(0.2)),
        condition("response.p50", Higher, Amount::Figure(15_000.0)),
        condition("response.p50", Lower, Amount::Share(0.0)),
        condition("memory.peak", Higher, Amount::Share(0.0)),
    ];
}

fn result(run: MadeUp) -> RunResult {
    analyse(&MadeUp { change: with_conditions, ..run }.data())
}

fn judgements(result: &RunResult) -> Vec<ConditionJudgement> {
    result.conditions.iter().map(|condition| condition.judgement).collect()
}

#[test]
fn a_condition_holds_where_the_interval_proves_it() {
    use ConditionJudgement::{Holds, NotMeasured, Open, RuledOut};
    let result = result(MadeUp { shift_us: 20.0, ..MadeUp::default() });
    assert_eq!(judgements(&result), [Holds, RuledOut, Open, Holds, RuledOut, NotMeasured]);
    assert!(result.fails());
    let ConditionResult { label, verdict, findings, .. } = &result.conditions[0];
    assert_eq!((label.as_str(), *verdict, findings.len()), ("response p50", Verdict::Slower, 1));
    let [low, high] = findings[0].interval.unwrap();
    assert!((0.15..0.2).contains(&low) && (0.2..0.25).contains(&high), "a share: {low} {high}");
    let row = &result.contrasts[findings[0].contrast].rows[0];
    assert_eq!(result.conditions[3].findings[0].interval, row.interval, "in the unit of the row");
    let unmeasured: Vec<&str> = result.unmeasured_conditions().map(|of| of.label.as_str()).collect();
    assert_eq!(unmeasured, ["memory.peak"]);
}

#[test]
fn it_is_about_every_candidate_and_one_is_enough() {
    let result = result(MadeUp { static_pod_us: Some(35.0), ..MadeUp::default() });
    let of: Vec<_> = result.conditions[0].findings.iter().map(|finding| finding.judgement).collect();
    assert_eq!(of, [ConditionJudgement::RuledOut, ConditionJudgement::Holds]);
    assert_eq!(result.conditions[0].judgement, ConditionJudgement::Holds);
}

#[test]
fn a_service_against_itself_meets_none() {
    let result = result(MadeUp { requests: 800, ..MadeUp::default() });
    assert!(judgements(&result).iter().all(|judgement| *judgement != ConditionJudgement::Holds));
    assert!(!result.fails());
}

#[test]
fn one_deployment_proves_nothing() {
    let result = result(MadeUp { shift_us: 20.0, rounds: 1, blocks: 24, ..MadeUp::default() });
    assert_eq!(judgements(&result)[0], ConditionJudgement::Open);
}

#[test]
fn in_a_run_that_cannot_be_trusted_nothing_is_judged_and_every_verdict_says_so() {
    let run = MadeUp { shift_us: 20.0, change: with_conditions, ..MadeUp::default() };
    let trusted = analyse(&run.data());
    let rows = |result: &RunResult| -> Vec<bool> {
        let contrasts = result.contrasts.iter().chain(&result.noise);
        contrasts.flat_map(|contrast| &contrast.rows).map(|row| row.trusted).collect()
    };
    assert!(trusted.trust.trusted && rows(&trusted).into_iter().all(|trusted| trusted));
    let mut data = run.data();
    for slice in &mut data.slices {
        slice.gate_failures.push(GateFailure::Late(Late { p99_us: 500.0, bound_us: 100.0 }));
        slice.sent_in_time = slice.due / 2;
    }
    let result = analyse(&data);
    assert!(!result.trust.trusted && !rows(&result).is_empty());
    assert!(rows(&result).into_iter().all(|trusted| !trusted));
    assert_eq!(judgements(&result)[..5], [ConditionJudgement::NotTrusted; 5]);
    assert!(!result.fails());
}

#[test]
fn a_candidate_that_can_be_trusted_is_judged_beside_one_that_cannot() {
    use ConditionJudgement::{Holds, NotTrusted};
    let run = |pod_us, static_pod_us| {
        let run = MadeUp {
            shift_us: pod_us,
            static_pod_us: Some(static_pod_us),
            change: with_conditions,
            ..MadeUp::default()
        };
        let mut data = run.data();
        for slice in data.slices.iter_mut().filter(|slice| slice.cell == CellId(3)) {
            slice.gate_failures.push(GateFailure::Late(Late { p99_us: 500.0, bound_us: 100.0 }));
            slice.sent_in_time = slice.due / 2;
        }
        let result = analyse(&data);
        assert!(!result.trust.trusted);
        (judgements(&result)[0], result.fails())
    };
    assert_eq!(run(20.0, 0.0), (Holds, true));
    assert_eq!(run(0.0, 20.0), (NotTrusted, false));
}

#[test]
fn a_run_fails_with_a_claim_that_must_hold_and_is_refuted() {
    let claim = |must, from, to| Claim {
        text: "somebody's words".to_owned(),
        platform: None,
        against: None,
        service: None,
        loads: Vec::new(),
        metric: "response.mean".to_owned(),
        says: Says::Share { from, to },
        baseline: None,
        unit: None,
        must,
    };
    let judged = |claim| {
        let run = MadeUp { shift_us: 20.0, claims: vec![claim], ..MadeUp::default() };
        let result = analyse(&run.data());
        assert!(result.claims[0].trusted);
        (result.claims[0].judgement, result.fails())
    };
    assert_eq!(judged(claim(true, 0.5, 0.6)), (ClaimJudgement::Refuted, true));
    assert_eq!(judged(claim(false, 0.5, 0.6)), (ClaimJudgement::Refuted, false));
    assert_eq!(judged(claim(true, 0.1, 0.3)), (ClaimJudgement::Confirmed, false));
}
