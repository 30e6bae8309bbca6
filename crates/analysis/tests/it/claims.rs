//! Claims about made-up runs whose truth is known.

use crate::made_up::MadeUp;
use loadline_analysis::analyse;
use loadline_analysis::result::{ClaimJudgement, ClaimResult, Remark};
use loadline_model::experiment::{Claim, Says};

fn claim(platform: &str, says: Says) -> Claim {
    Claim {
        text: "somebody's words".to_owned(),
        platform: Some(platform.to_owned()),
        against: None,
        service: None,
        loads: Vec::new(),
        metric: "response.mean".to_owned(),
        says,
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
