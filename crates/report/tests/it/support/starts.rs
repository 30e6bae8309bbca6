//! Invented starts and claims.

use super::*;

/// A container among the platforms, with what it says of its starts, and two claims of others.
pub fn with_starts_and_claims() -> RunResult {
    let mut result = slower();
    let phase = |name: &str, median_ms: f64| StartPhase {
        name: name.to_owned(),
        median_ms,
        range_ms: [median_ms * 0.9, median_ms * 1.2],
    };
    let start = |label: &str, phases: Vec<StartPhase>, image_bytes| Start {
        label: label.to_owned(),
        deployments: 2,
        phases,
        image_bytes,
        idle_memory_bytes: Some(4_300_000),
    };
    result.starts = vec![
        start("host", vec![phase("answered", 3.1)], None),
        start(
            "pod",
            vec![phase("created", 31.0), phase("started", 312.0), phase("answered", 318.0)],
            Some(14_000_000),
        ),
    ];
    let finding = |claimed, is_share, found, interval, judgement| Finding {
        cell: loadline_model::CellId(2),
        against: None,
        claimed,
        is_share,
        found,
        interval,
        judgement,
        baseline: None,
        p_holm: None,
        trusted: true,
        note: None,
    };
    let claim = |text: &str, judgement, findings| ClaimResult {
        text: text.to_owned(),
        metric: "response mean".to_owned(),
        metric_unit: Unit::Nanoseconds,
        published_in: None,
        published_baseline: None,
        judgement,
        trusted: true,
        must: false,
        findings,
    };
    result.claims = vec![
        claim(
            "a pod adds 4.5 ms",
            ClaimJudgement::Refuted,
            vec![finding(
                [3.6 * MS, 5.4 * MS],
                false,
                Some(4.1 * US),
                Some([3.5 * US, 4.7 * US]),
                ClaimJudgement::Refuted,
            )],
        ),
        claim(
            "a pod is 5 to 9 % slower",
            ClaimJudgement::Confirmed,
            vec![
                finding([0.05, 0.09], true, Some(0.067), Some([0.057, 0.077]), ClaimJudgement::Confirmed),
                finding([0.05, 0.09], true, Some(0.07), Some([0.051, 0.089]), ClaimJudgement::Confirmed),
            ],
        ),
        claim(
            "static pods close 60 % of the gap",
            ClaimJudgement::OutOfReach,
            vec![Finding {
                note: Some(Statement::text("no gap to close: pod was not seen to differ from the baseline")),
                ..finding([0.48, 0.72], true, None, None, ClaimJudgement::OutOfReach)
            }],
        ),
    ];
    let facts = serde_json::json!({"version": "20.10"});
    let summary = "Docker Engine 20.10.24, overlay2, cgroup v1".to_owned();
    result.surroundings.insert("pod".to_owned(), Surroundings { summary, facts });
    result
}
