//! What is seen once a deployment, of runs whose starts are known: figures, contrasts, claims, histories, and what a single deployment says.

use loadline_analysis::result::{ClaimJudgement, Contrast, Figure, Remark, Row, RunResult, Verdict};
use loadline_analysis::{Chronicle, RunData, analyse};
use loadline_model::experiment::{Amount, Capacity, Claim, Condition, Direction, OF_DEPLOYMENTS, Says};
use loadline_model::rows::{DeploymentRow, PhaseRow, Purpose, TrialRow};

use crate::made_up::MadeUp;

const MS: f64 = 1e6;
/// Milliseconds to the first answer, by deployment.
const HOST: [f64; 4] = [10.0, 12.0, 11.0, 13.0];
const POD: [f64; 4] = [15.0, 18.0, 16.0, 17.0];

/// A run with so many deployments; `deployment` gets the number of the platform and of the deployment.
fn run(rounds: u32, made_up: MadeUp, deployment: impl Fn(usize, usize, &mut DeploymentRow)) -> RunData {
    let mut data = MadeUp { rounds, ..made_up }.data();
    for row in &mut data.deployments {
        deployment(data.run.plan.site(row.site).platform.0, row.round as usize, row);
    }
    data
}

fn starts(platform: usize, round: usize, row: &mut DeploymentRow) {
    row.ready_ms = [HOST, POD][platform][round];
}

fn row<'a>(contrast: &'a Contrast, metric: &str) -> Option<&'a Row> {
    contrast.rows.iter().find(|row| row.metric == metric)
}

fn figure<'a>(result: &'a RunResult, platform: &str, metric: &str) -> Option<&'a Figure> {
    let cell = result.cells.iter().find(|cell| cell.platform == platform).expect("a cell");
    cell.figures.iter().find(|figure| figure.metric == metric)
}

fn is_close(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected.abs()
}

#[test]
fn a_cell_has_the_mean_of_its_deployments_with_students_interval() {
    let result = analyse(&run(4, MadeUp::default(), starts));
    let host = figure(&result, "host", "start.answered").expect("a figure");
    // s = 1.291 ms, so that t(0.975; 3) s / √4 is 2.0543 ms.
    let [low, high] = host.t_interval.expect("an interval");
    assert!(is_close(host.value, 11.5 * MS, 1e-9), "{host:?}");
    assert!(is_close(low, 9.4457 * MS, 1e-4) && is_close(high, 13.5543 * MS, 1e-4), "{host:?}");
    assert!(!host.primary, "it is in no short table");
}

#[test]
fn a_difference_is_paired_by_deployment_and_has_students_interval() {
    let result = analyse(&run(4, MadeUp::default(), starts));
    let found = row(&result.contrasts[0], "start.answered").expect("a row");
    assert!(is_close(found.difference, 5.0 * MS, 1e-9), "{found:?}");
    // Of 5, 6, 5 and 4 ms: s² = 2/3, so that t(0.975; 3) s / √4 is 1.2992 ms. The bootstrap knows s to some per cent.
    let [low, high] = found.interval.expect("an interval");
    assert!(is_close((high - low) / 2.0, 1.2992 * MS, 0.05), "{found:?}");
    assert_eq!((found.verdict, found.degrees_of_freedom), (Verdict::Slower, Some(3.0)));
    assert!(!found.primary && found.block_differences.is_empty(), "{found:?}");
}

#[test]
fn two_deployments_have_the_interval_of_two() {
    let result = analyse(&run(2, MadeUp::default(), starts));
    let found = row(&result.contrasts[0], "start.answered").expect("a row");
    // Of 5 and 6 ms: t(0.975; 1) × 0.5 ms.
    let [low, high] = found.interval.expect("an interval");
    assert!(is_close((high - low) / 2.0, 6.3531 * MS, 1e-4), "{found:?}");
    assert_eq!(found.verdict, Verdict::Unresolved);
}

#[test]
fn a_single_deployment_says_nothing_of_how_starts_vary() {
    let claims = vec![claim(Says::Difference { from_ns: 0.0, to_ns: 100.0 * MS })];
    let data = run(1, MadeUp { blocks: 12, claims, ..MadeUp::default() }, |platform, round, row| {
        starts(platform, round, row);
        row.startup.image_bytes = Some(7_000_000);
    });
    let result = analyse(&data);
    let contrast = &result.contrasts[0];
    assert!(row(contrast, "response.p50").expect("a row").interval.is_some(), "its blocks have one");
    for metric in ["start.answered", "warmup.time", "image.size"] {
        let found = row(contrast, metric).unwrap_or_else(|| panic!("no row of {metric}"));
        assert_eq!((found.interval, found.p_holm, found.p_equivalent), (None, None, None), "{metric}");
        assert_eq!(found.verdict, Verdict::Unresolved, "{metric}");
        let why = found.note.as_ref().and_then(|note| note.what.clone());
        assert_eq!(why, Some(Remark::OneDeployment), "{metric}");
        assert_eq!(figure(&result, "host", metric).expect("a figure").t_interval, None, "{metric}");
    }
    assert_eq!(result.claims[0].judgement, ClaimJudgement::OutOfReach);
    assert_eq!(result.claims[0].findings[0].interval, None);
}

#[test]
fn a_deployment_counts_only_where_both_cells_are_known() {
    let data = run(4, MadeUp::default(), |platform, round, row| {
        let bytes = [10, 20, 30, 400][round] + [0, 5][platform];
        row.startup.idle_memory_bytes = (platform == 0 || round != 3).then_some(bytes);
    });
    let result = analyse(&data);
    let found = row(&result.contrasts[0], "memory.idle").expect("a row");
    assert_eq!((found.baseline, found.candidate), (20.0, 25.0));
    let [low, high] = found.interval.expect("an interval");
    assert!(
        is_close(low, 5.0, 1e-9) && is_close(high, 5.0, 1e-9),
        "the same in three deployments: {found:?}"
    );
    assert_eq!(found.verdict, Verdict::Costlier);
    assert_eq!(figure(&result, "host", "memory.idle").expect("a figure").value, 115.0);
}

#[test]
fn what_only_one_platform_tells_is_its_own_figure_and_in_no_contrast() {
    let data = run(4, MadeUp::default(), |platform, _, row| {
        let phases = [("created", 3.0), ("started", 8.0)];
        let phase = |(name, after_ms): (&str, f64)| PhaseRow { name: name.to_owned(), after_ms };
        if platform == 1 {
            row.startup.phases = phases.map(phase).into();
        }
    });
    let result = analyse(&data);
    assert_eq!(figure(&result, "pod", "start.started").expect("a figure").value, 8.0 * MS);
    assert!(figure(&result, "host", "start.started").is_none());
    assert!(row(&result.contrasts[0], "start.started").is_none());
}

#[test]
fn a_start_that_met_a_busy_disk_carries_the_difference_and_nothing_is_claimed() {
    let data = run(8, MadeUp::default(), |platform, round, row| {
        let busy_ms = if (platform, round) == (1, 5) { 900.0 } else { 0.0 };
        row.ready_ms = 20.0 + round as f64 / 10.0 + busy_ms;
    });
    let result = analyse(&data);
    let found = row(&result.contrasts[0], "start.answered").expect("a row");
    let why = found.note.as_ref().and_then(|note| note.what.clone());
    assert!(matches!(why, Some(Remark::Carried { .. })), "{found:?}");
    assert_eq!((found.interval, found.verdict), (None, Verdict::Unresolved));
}

fn claim(says: Says) -> Claim {
    Claim {
        text: "somebody's words".to_owned(),
        platform: Some("pod".to_owned()),
        against: None,
        service: None,
        loads: Vec::new(),
        metric: "start.answered".to_owned(),
        says,
        must: false,
        baseline: None,
        unit: None,
    }
}

#[test]
fn claims_about_starts_are_judged_by_the_same_interval() {
    let claims = vec![
        claim(Says::Difference { from_ns: 3.0 * MS, to_ns: 7.0 * MS }),
        claim(Says::Difference { from_ns: 20.0 * MS, to_ns: 30.0 * MS }),
        claim(Says::Share { from: 0.2, to: 0.8 }),
    ];
    let result = analyse(&run(4, MadeUp { claims, ..MadeUp::default() }, starts));
    let judgements: Vec<ClaimJudgement> = result.claims.iter().map(|claim| claim.judgement).collect();
    assert_eq!(judgements, [ClaimJudgement::Confirmed, ClaimJudgement::Refuted, ClaimJudgement::Confirmed]);
}

#[test]
fn a_gap_between_starts_is_closed_by_a_part() {
    let closes = Claim {
        platform: Some("static pod".to_owned()),
        ..claim(Says::Closes { of: "pod".to_owned(), from: 0.5, to: 0.7 })
    };
    let judged = |rounds| {
        let made_up = MadeUp {
            static_pod_us: Some(8.0),
            blocks: 12,
            claims: vec![closes.clone()],
            ..MadeUp::default()
        };
        let data = run(rounds, made_up, |platform, round, row| {
            row.ready_ms = HOST[round] + [0.0, 10.0, 4.0][platform];
        });
        analyse(&data).claims.remove(0)
    };
    assert_eq!(judged(4).judgement, ClaimJudgement::Confirmed);
    let alone = judged(1);
    assert_eq!((alone.judgement, alone.findings[0].interval), (ClaimJudgement::OutOfReach, None));
}

/// Verdicts have the words that conditions on the same metrics are written in.
#[test]
fn conditions_on_deployments_are_in_the_words_of_their_verdicts() {
    let condition = |metric: &str| Condition {
        text: String::new(),
        metric: metric.to_owned(),
        direction: Direction::Higher,
        by: Amount::Share(0.0),
    };
    let mut data = run(4, MadeUp::default(), |platform, round, row| {
        row.ready_ms = HOST[round] + [0.0, 5.0][platform];
        row.startup.idle_memory_bytes = Some([1_000, 2_000][platform]);
        row.startup.image_bytes = Some([1_000, 2_000][platform]);
    });
    let plan = data.run.plan.clone();
    for warm_up in &mut data.warm_ups {
        warm_up.seconds += plan.site_of(warm_up.cell).platform.0 as f64;
    }
    data.run.experiment.fail_if = OF_DEPLOYMENTS.map(condition).into();
    let result = analyse(&data);
    for condition in &result.conditions {
        let found = row(&result.contrasts[0], &condition.metric).expect("a row");
        assert_eq!(found.verdict, condition.verdict, "{}", condition.metric);
    }
    assert_eq!(result.conditions.len(), OF_DEPLOYMENTS.len());
}

#[test]
fn a_search_has_none_of_them() {
    let mut data = run(4, MadeUp::default(), starts);
    data.run.experiment.capacity = Some(Capacity { objectives: Vec::new(), precision: 0.02, most: None });
    for slice in &mut data.slices {
        slice.trial = Some(TrialRow { purpose: Purpose::Own, slices: 1.0 });
    }
    let result = analyse(&data);
    let rows =
        result.capacities.iter().flat_map(|found| &found.at_their_own).flat_map(|contrast| &contrast.rows);
    let of_rows = rows.map(|row| row.metric.as_str());
    let of_cells = result.cells.iter().flat_map(|cell| &cell.figures).map(|figure| figure.metric.as_str());
    let metrics: Vec<&str> = of_rows.chain(of_cells).collect();
    assert!(metrics.contains(&"response.p50"));
    assert!(!metrics.iter().any(|metric| OF_DEPLOYMENTS.contains(metric)), "{metrics:?}");
}

#[test]
fn starts_have_a_history() {
    let mut chronicle = Chronicle::new("start.answered");
    chronicle.add(&run(4, MadeUp::default(), starts));
    assert_eq!(chronicle.known_instead(), None);
    let history = chronicle.finish();
    let values: Vec<f64> = history.series.iter().map(|series| series.points[0].value).collect();
    assert_eq!(values, [11.5 * MS, 16.5 * MS]);
    assert!(history.series.iter().all(|series| series.points[0].interval.is_some()));
}

#[test]
fn the_course_of_each_warm_up_is_in_the_result() {
    let result = analyse(&run(2, MadeUp::default(), starts));
    let deployments = result.cells.iter().flat_map(|cell| &cell.deployments);
    assert!(deployments.into_iter().all(|deployment| deployment.warmup_service_p50_ns == [60_000; 8]));
}
