//! An invented ladder.

use loadline_model::CellId;
use loadline_model::notes::Note;

use super::*;

/// A ladder of three rungs, the last on a branch, with a profile.
pub fn ladder() -> RunResult {
    let mut result = slower();
    result.run.name = "orders · layers".to_owned();
    result.run.question = None;
    let names = [
        ("host", Role::Baseline, 30.5),
        ("host", Role::Twin, 30.4),
        ("bridge", Role::Twin, 37.4),
        ("veth", Role::Candidate, 36.5),
        ("bridge", Role::Candidate, 37.3),
        ("vxlan", Role::Candidate, 44.9),
    ];
    result.cells = names
        .iter()
        .enumerate()
        .map(|(id, (name, role, p50_us))| {
            let mut cell = cell(id, name, *role, "closed loop", 0.0, *p50_us);
            (cell.rate_per_second, cell.connections) = (None, 1);
            cell.figures.push(figure("response.p50.paired", "  p50, paired", p50_us * US, [0.99, 1.01]));
            cell.figures.push(figure(
                "cpu.path",
                "CPU per request, both ends",
                p50_us * US * 1.1,
                [0.99, 1.01],
            ));
            cell.seen = Some(seen(*p50_us));
            cell
        })
        .collect();
    let rung = |p50: [f64; 2], p50_arm: f64, cpu: [f64; 2], verdict| {
        let arm = |difference: f64, arm: f64| Some([(difference - arm) * US, (difference + arm) * US]);
        let p50_row = |label| {
            (
                label,
                Unit::Nanoseconds,
                p50[0] * US,
                p50[1] * US,
                arm(p50[1] - p50[0], p50_arm),
                Some(p50_arm * US),
                verdict,
            )
        };
        let rows = [
            p50_row("response p50"),
            p50_row("response.p50.paired"),
            (
                "cpu.path",
                Unit::Nanoseconds,
                cpu[0] * US,
                cpu[1] * US,
                arm(cpu[1] - cpu[0], 0.2),
                Some(0.2 * US),
                Verdict::Costlier,
            ),
        ];
        contrast(0, 0, &rows).rows
    };
    let estimate = |value: f64, arm: f64| Estimate {
        value: value * US,
        interval: Some([(value - arm) * US, (value + arm) * US]),
    };
    let difference = |agrees| SeenDifference {
        total: estimate(6.1, 0.7),
        agrees: Some(agrees),
        layers: vec![
            SeenLayer { layer: "veth".to_owned(), difference: estimate(3.2, 0.2) },
            SeenLayer { layer: "softirq-dispatch".to_owned(), difference: estimate(1.1, 0.2) },
            SeenLayer { layer: "tcp".to_owned(), difference: estimate(-0.4, 0.3) },
        ],
    };
    result.contrasts = vec![
        Contrast {
            twin: None,
            by_request: Vec::new(),
            baseline: CellId(0),
            candidate: CellId(3),
            rows: rung([30.5, 36.5], 0.4, [33.6, 40.1], Verdict::Slower),
            seen: Some(difference(true)),
        },
        Contrast {
            twin: None,
            by_request: Vec::new(),
            baseline: CellId(3),
            candidate: CellId(4),
            rows: rung([36.5, 37.3], 0.5, [40.1, 41.0], Verdict::Equivalent),
            seen: Some(difference(false)),
        },
        Contrast {
            twin: None,
            by_request: Vec::new(),
            baseline: CellId(3),
            candidate: CellId(5),
            rows: rung([36.5, 44.9], 0.6, [40.1, 49.4], Verdict::Slower),
            seen: Some(difference(true)),
        },
    ];
    let sum = |metric: &str, sum: f64, end_to_end: f64, closes| SumRow {
        metric: metric.to_owned(),
        unit: Unit::Nanoseconds,
        sum: estimate(sum, 0.5),
        end_to_end: Some(estimate(end_to_end, 0.5)),
        residual: Some(estimate(end_to_end - sum, 0.6)),
        margin: 0.6 * US,
        closes: Some(closes),
    };
    result.ladders = vec![Ladder {
        bottom: CellId(0),
        rungs: vec![
            Rung { cell: CellId(3), below: CellId(0), contrast: 0 },
            Rung { cell: CellId(4), below: CellId(3), contrast: 1 },
            Rung { cell: CellId(5), below: CellId(3), contrast: 2 },
        ],
        sums: vec![LadderSum {
            top: CellId(4),
            path: [0, 3, 4].map(CellId).to_vec(),
            rows: vec![sum("response.p50.paired", 6.8, 7.0, true), sum("cpu.path", 7.4, 9.9, false)],
        }],
    }];
    let text =
        "ipip was left out: the layer `ipip` can't be had here: the kernel has no ipip (CONFIG_NET_IPIP)";
    result.notes = vec![Statement::of(Note::LeftOut { text: text.to_owned() })];
    result
}

fn seen(p50_us: f64) -> Seen {
    Seen {
        requests: 21_000,
        samples: 180_000,
        lost: 0,
        cpu_ns_by_layer: [("tcp", 0.3), ("socket", 0.2), ("user: service", 0.1), ("unknown", 0.004)]
            .into_iter()
            .map(|(layer, share)| (layer.to_owned(), share * p50_us * 1.1 * US))
            .collect(),
        unknown_share: 0.006,
        unknown: vec![UnknownFunction { function: "blkcg_maybe_throttle_current".to_owned(), share: 1.0 }],
        softirqs: vec![SoftirqReason {
            vector: "NET_RX".to_owned(),
            function: "veth_xmit".to_owned(),
            layer: Some("veth".to_owned()),
            per_request: 2.0,
        }],
    }
}
