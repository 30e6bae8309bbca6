//! Claims about made-up runs whose truth is known.

use crate::made_up::MadeUp;
use loadline_analysis::analyse;
use loadline_analysis::result::{ClaimJudgement, ClaimResult, Remark};
use loadline_model::experiment::{Claim, Says, TimeUnit};

fn claim(platform: &str, says: Says) -> Claim {
    Claim {
        text: "somebody's words".to_owned(),
        platform: Some(platform.to_owned()),
        against: None,
        service: None,
        loads: Vec::new(),
        metric: "response.mean".to_owned(),
        says,
        baseline: None,
        unit: None,
        must: false,
    }
}

/// What a run with a pod 20 µs slower and a static pod 8 µs slower than a host of 100 µs says of the claim.
fn judged(platform: &str, says: Says) -> ClaimResult {
    judged_with_a_pod_of(20.0, platform, says)
}

fn judged_with_a_pod_of(shift_us: f64, platform: &str, says: Says) -> ClaimResult {
    let claims = vec![claim(platform, says)];
    let run = MadeUp { shift_us, static_pod_us: Some(8.0), claims, ..MadeUp::default() };
    analyse(&run.data()).claims.remove(0)
}

fn assert_found(claim: &ClaimResult, truth: f64) {
    let [low, high] = claim.findings[0].interval.expect("an interval");
    assert!(low < truth && truth < high, "{truth} is not in [{low}, {high}]");
}

#[test]
fn a_difference_is_confirmed_where_it_is_and_refuted_elsewhere() {
    let said = judged("pod", Says::Difference { from_ns: 18_000.0, to_ns: 22_000.0 });
    assert_eq!(said.judgement, ClaimJudgement::Confirmed);
    assert_found(&said, 20_000.0);
    let said = judged("pod", Says::Difference { from_ns: 3_600_000.0, to_ns: 5_400_000.0 });
    assert_eq!(said.judgement, ClaimJudgement::Refuted);
}

#[test]
fn a_share_is_of_the_baselines_figure() {
    let said = judged("pod", Says::Share { from: 0.15, to: 0.25 });
    assert_eq!(said.judgement, ClaimJudgement::Confirmed);
    assert_found(&said, 0.2);
}

#[test]
fn what_closes_a_gap_is_a_share_of_the_other_platforms_difference() {
    let closes = |from, to| Says::Closes { of: "pod".to_owned(), from, to };
    let said = judged("static pod", closes(0.48, 0.72));
    assert_eq!(said.judgement, ClaimJudgement::Confirmed);
    assert_found(&said, 0.6);
    assert_eq!(judged("static pod", closes(0.8, 1.0)).judgement, ClaimJudgement::Refuted);
}

#[test]
fn where_there_is_no_gap_nothing_closes_it() {
    let says = Says::Closes { of: "pod".to_owned(), from: 0.48, to: 0.72 };
    let said = judged_with_a_pod_of(0.0, "static pod", says);
    assert_eq!(said.judgement, ClaimJudgement::OutOfReach);
    assert_eq!(said.findings[0].found, None);
    assert!(
        matches!(
            said.findings[0].note.as_ref().and_then(|note| note.what.as_ref()),
            Some(Remark::NoGap { .. })
        ),
        "{said:?}"
    );
}

/// What a run with a pod 20 µs and a static pod 8 µs slower says of a claim about both.
fn judged_of_both(claim: Claim) -> ClaimResult {
    let run = MadeUp { shift_us: 20.0, static_pod_us: Some(8.0), claims: vec![claim], ..MadeUp::default() };
    analyse(&run.data()).claims.remove(0)
}

#[test]
fn a_share_of_a_baseline_that_is_far_from_the_published_one_is_not_judged() {
    let share = |baseline_ns: [f64; 2]| Claim {
        baseline: Some(baseline_ns),
        unit: Some(TimeUnit::Ms),
        ..claim("pod", Says::Share { from: 0.5, to: 0.6 })
    };
    let judged = |claim| judged_of_both(claim).judgement;
    assert_eq!(judged(share([12e6, 17e6])), ClaimJudgement::NotComparable);
    assert_eq!(judged(share([60e3, 90e3])), ClaimJudgement::Refuted);
    let said = judged_of_both(share([12e6, 17e6]));
    assert_eq!((said.published_baseline, said.published_in), (Some([12e6, 17e6]), Some(TimeUnit::Ms)));
    let ours = said.findings[0].baseline.expect("the host's mean");
    assert!((95e3..105e3).contains(&ours), "{ours}");
    // How far the baseline is does not matter to what is claimed in ns.
    let absolute = Claim {
        baseline: Some([12e6, 17e6]),
        ..claim("pod", Says::Difference { from_ns: 18_000.0, to_ns: 22_000.0 })
    };
    assert_eq!(judged(absolute), ClaimJudgement::Confirmed);
}

#[test]
fn the_cells_of_a_claim_are_corrected_for_each_other() {
    let says = || Says::Difference { from_ns: 25_000.0, to_ns: 30_000.0 };
    let alone = judged_of_both(claim("pod", says()));
    let both = judged_of_both(Claim { platform: None, ..claim("pod", says()) });
    assert_eq!((alone.findings.len(), both.findings.len()), (1, 2));
    // The static pod is the farther one: its p-value counts twice, the pod's once.
    let p = |claim: &ClaimResult, at: usize| claim.findings[at].p_holm.expect("a p-value");
    let static_pod = judged_of_both(claim("static pod", says()));
    assert_eq!(p(&both, 1), (2.0 * p(&static_pod, 0)).min(1.0));
    assert_eq!(p(&both, 0), p(&alone, 0).max(p(&both, 1)));
    assert_eq!(both.judgement, ClaimJudgement::Refuted);
    // What lies within is no evidence against the claim.
    assert_eq!(p(&judged_of_both(claim("pod", Says::Difference { from_ns: 0.0, to_ns: 90e3 })), 0), 1.0);
}

#[test]
fn what_was_not_measured_is_out_of_reach_and_not_left_out() {
    let of_memory =
        Claim { metric: "memory.peak".to_owned(), ..claim("pod", Says::Share { from: 0.1, to: 0.2 }) };
    let run = MadeUp { claims: vec![of_memory], ..MadeUp::default() };
    let said = analyse(&run.data()).claims.remove(0);
    assert_eq!((said.judgement, &*said.metric), (ClaimJudgement::OutOfReach, "memory.peak"));
    assert!(said.findings.is_empty(), "{said:?}");
}
