//! Comparisons that are not with the first platform, and cells that are compared with several others or with none.

use loadline_analysis::analyse;
use loadline_analysis::result::{ClaimJudgement, Contrast, Role};
use loadline_model::experiment::{CellSpec, Claim, ContrastSpec, Experiment, Says};
use loadline_model::{LoadId, PlatformId, ServiceId};

use crate::made_up::MadeUp;

fn cell(platform: usize) -> CellSpec {
    CellSpec { service: ServiceId(0), platform: PlatformId(platform), load: LoadId(0) }
}

/// The static pod against the pod and against the host.
fn both_ways(experiment: &mut Experiment) {
    experiment.contrasts = vec![
        ContrastSpec { candidate: cell(2), baseline: cell(1) },
        ContrastSpec { candidate: cell(2), baseline: cell(0) },
    ];
}

/// A run with a pod 20 µs and a static pod 8 µs slower than the host.
fn made_up(change: fn(&mut Experiment)) -> MadeUp {
    MadeUp { shift_us: 20.0, static_pod_us: Some(8.0), change, ..MadeUp::default() }
}

fn median(contrast: &Contrast) -> f64 {
    contrast.rows.iter().find(|row| row.metric == "response.p50").expect("a median").difference / 1e3
}

#[test]
fn a_cell_is_held_against_each_of_its_baselines_with_the_twin_of_that_one() {
    let result = analyse(&made_up(both_ways).data());
    let names = |contrast: &Contrast| {
        let of = |cell| result.cell(cell).unwrap().platform.as_str();
        (of(contrast.candidate), of(contrast.baseline))
    };
    let compared: Vec<_> = result.contrasts.iter().map(names).collect();
    assert_eq!(compared, [("static pod", "pod"), ("static pod", "host")]);
    let [to_pod, to_host] = [0, 1].map(|at| median(&result.contrasts[at]));
    assert!((-13.5..-10.5).contains(&to_pod), "{to_pod} µs");
    assert!((6.5..9.5).contains(&to_host), "{to_host} µs");
    // Each baseline has a twin of its own.
    assert_eq!(result.noise.len(), 2);
    let twins = [0, 1].map(|at| result.contrasts[at].twin.expect("a pooled twin"));
    let platforms = twins.map(|twin| result.cell(twin).unwrap().platform.as_str());
    assert_eq!(platforms, ["pod", "host"]);
}

#[test]
fn a_claim_is_about_every_comparison_of_its_platform_unless_it_names_one() {
    let claim = |against: Option<&str>| Claim {
        text: "somebody's words".to_owned(),
        platform: Some("static pod".to_owned()),
        against: against.map(str::to_owned),
        service: None,
        loads: Vec::new(),
        metric: "response.mean".to_owned(),
        says: Says::Difference { from_ns: 6_000.0, to_ns: 10_000.0 },
        must: false,
        baseline: None,
        unit: None,
    };
    let claims = vec![claim(None), claim(Some("host")), claim(Some("pod"))];
    let result = analyse(&MadeUp { claims, ..made_up(both_ways) }.data());
    let [any, host, pod] = &result.claims[..] else { panic!("three claims") };
    assert_eq!(any.findings.len(), 2);
    let judgements = [any, host, pod].map(|claim| claim.judgement);
    let (refuted, confirmed) = (ClaimJudgement::Refuted, ClaimJudgement::Confirmed);
    assert_eq!(judgements, [refuted, confirmed, refuted]);
    let against = result.cell(host.findings[0].against.expect("one of two baselines")).unwrap();
    assert_eq!(against.platform, "host");
}

#[test]
fn a_cell_that_is_compared_with_nothing_has_figures_and_no_contrast() {
    let only_pod_against_host: fn(&mut Experiment) = |experiment| {
        experiment.contrasts = vec![ContrastSpec { candidate: cell(1), baseline: cell(0) }];
    };
    let result = analyse(&made_up(only_pod_against_host).data());
    assert_eq!((result.contrasts.len(), result.noise.len()), (1, 1));
    let alone = result.cells.iter().find(|cell| cell.platform == "static pod").unwrap();
    assert_eq!(alone.role, Role::Uncompared);
    assert!(!alone.figures.is_empty() && alone.answered > 0);
}

#[test]
fn blocks_are_counted_where_nothing_is_compared_at_all() {
    let alone: fn(&mut Experiment) = |experiment| {
        experiment.contrasts.clear();
        experiment.plan.twin = false;
    };
    let result = analyse(&made_up(alone).data());
    assert!(result.contrasts.is_empty() && result.noise.is_empty());
    assert_eq!((result.plan.deployments, result.plan.blocks_measured), (8, 24));
    assert!(result.cells.iter().all(|cell| cell.role == Role::Uncompared));
}

#[test]
fn without_a_baseline_that_was_measured_nothing_is_compared_with_it() {
    let without_host: fn(&mut Experiment) =
        |experiment| *experiment = experiment.clone().with_cells(vec![cell(1), cell(2)]);
    let result = analyse(&made_up(without_host).data());
    assert!(result.contrasts.is_empty());
    assert_eq!(result.cells.iter().filter(|cell| cell.role != Role::Twin).count(), 2);
}
