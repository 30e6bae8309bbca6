//! Invented results, one per situation that a reader can meet. Each starts from `slower` and changes what sets it apart.

use std::collections::BTreeMap;

use loadline_analysis::result::*;
use loadline_observe::{Machine, MachineCpu, Observations};

const US: f64 = 1e3;
const MS: f64 = 1e6;

/// Figures of a row: label, unit, baseline, candidate, interval, resolution, verdict.
type Sample<'a> = (&'a str, Unit, f64, f64, Option<[f64; 2]>, Option<f64>, Verdict);

/// All of them.
#[allow(dead_code, reason = "each test file uses its share of this module")]
pub fn all() -> Vec<RunResult> {
    vec![
        slower(),
        equivalent(),
        unresolved(),
        faster_without_a_twin(),
        with_starts_and_claims(),
        untrusted(),
        platforms_and_loads(),
        interrupted(),
        empty(),
    ]
}

/// `orders` on the host against a pod: clearly slower.
pub fn slower() -> RunResult {
    use Unit::{Bytes, Count, Nanoseconds as Ns, PerSecond};
    use Verdict::*;
    let rows = [
        ("response p50", Ns, 61.2 * US, 65.3 * US, Some([3.5 * US, 4.7 * US]), Some(0.8 * US), Slower),
        (
            "response p99",
            Ns,
            212.0 * US,
            219.0 * US,
            Some([-6.0 * US, 20.0 * US]),
            Some(15.0 * US),
            Unresolved,
        ),
        ("response p99.9", Ns, 1.9 * MS, 1.7 * MS, Some([-0.9 * MS, 0.5 * MS]), Some(1.1 * MS), Unresolved),
        ("service p50", Ns, 58.0 * US, 62.0 * US, Some([3.4 * US, 4.6 * US]), Some(0.7 * US), Slower),
        ("CPU per request", Ns, 38.1 * US, 41.0 * US, Some([2.7 * US, 3.1 * US]), Some(0.2 * US), Costlier),
        ("softirqs per request", Count, 4.0, 6.0, Some([2.0, 2.0]), Some(0.01), More),
        ("  NET_RX", Count, 3.0, 3.0, Some([-0.01, 0.01]), Some(0.01), Equivalent),
        ("resident memory", Bytes, 8.4e6, 8.5e6, Some([-0.2e6, 0.4e6]), Some(0.3e6), Equivalent),
        ("achieved rate", PerSecond, 2000.0, 2000.0, Some([0.0, 0.0]), Some(0.1), Equivalent),
    ];
    let cells = vec![
        cell(0, "host", Role::Baseline, "2000/s Poisson", 2000.0, 61.2),
        cell(1, "host", Role::Twin, "2000/s Poisson", 2000.0, 61.1),
        cell(2, "pod", Role::Candidate, "2000/s Poisson", 2000.0, 65.3),
    ];
    let slices = slices(&cells, 2, 12);
    RunResult {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            id: 3,
            name: "orders: host against pod".to_owned(),
            question: Some("Does it get slower in a pod?".to_owned()),
            started: "2026-03-14T09:26:53Z".to_owned(),
            finished: Some("2026-03-14T09:28:45Z".to_owned()),
            state: RunState::Complete,
            failures: Vec::new(),
            command_line: ["loadline", "compare", "--service", "orders --orders 12", "--on", "host", "--on", "pod"]
                .map(str::to_owned)
                .to_vec(),
            version: "0.1.0".to_owned(),
            seed: 7,
            experiment: serde_json::json!({"service": {"builtin": "orders"}}),
        },
        machine: machine(),
        plan: PlanInfo {
            slice_s: 1.5,
            blocks: 12,
            deployments: 2,
            deployments_planned: 2,
            blocks_measured: 24,
            confidence: 0.95,
            interval_method: "hierarchical bootstrap over deployments and blocks (Davison and Hinkley 1997, section 3.8)"
                .to_owned(),
            service_cpus: vec![0],
            load_cpus: vec![1],
            until: None,
            seconds_to_settle: Some(SecondsToSettle {
                metric: "response p99".to_owned(),
                within: 0.05,
                seconds: 540.0,
                deployments: 44,
            }),
        },
        contrasts: vec![contrast(0, 2, &rows)],
        noise: vec![contrast(0, 1, &rows[..1])],
        cells,
        claims: Vec::new(),
        starts: Vec::new(),
        surroundings: BTreeMap::new(),
        trust: Trust {
            trusted: true,
            gates: vec![
                gate("rate", "rate", ""),
                gate("send_lag", "send lag p99 6 µs", ""),
                gate("errors", "errors 0", ""),
                gate("stationary", "stationary", ""),
                gate("steal", "stolen CPU 0.1 %", ""),
                gate("foreign_cpu", "other programs 0.4 %", ""),
            ],
            slices: slices.len(),
            slices_failed: 0,
            slices_repeated: 0,
        },
        slices,
        notes: vec![
            "The CPUs were chosen automatically: this machine has two, so that the service has one and the load the other."
                .to_owned(),
        ],
    }
}

/// No difference beyond the margin; the question is made from the labels.
pub fn equivalent() -> RunResult {
    let mut result = slower();
    result.run.question = None;
    result.plan.seconds_to_settle = None;
    result.notes.clear();
    for row in &mut result.contrasts[0].rows {
        row.candidate = row.baseline * 1.001;
        row.difference = row.baseline * 0.001;
        row.relative = Some(0.001);
        row.interval = Some([row.baseline * -0.003, row.baseline * 0.005]);
        row.verdict = Verdict::Equivalent;
    }
    result
}

/// A difference too small for the run, asked about in the author's own words.
pub fn unresolved() -> RunResult {
    let mut result = slower();
    result.run.question = Some("What does Kubernetes cost the orders service?".to_owned());
    result.plan.seconds_to_settle.as_mut().expect("set by slower").metric = "response p50".to_owned();
    result.plan.seconds_to_settle.as_mut().expect("set by slower").within = 0.01;
    let row = &mut result.contrasts[0].rows[0];
    row.candidate = 61.5 * US;
    row.difference = 0.3 * US;
    row.relative = Some(0.3 / 61.2);
    row.interval = Some([-US, 1.6 * US]);
    row.verdict = Verdict::Unresolved;
    result
}

/// Faster, without a twin.
pub fn faster_without_a_twin() -> RunResult {
    let mut result = slower();
    result.noise.clear();
    result.cells[1].role = Role::Candidate;
    let row = &mut result.contrasts[0].rows[0];
    (row.candidate, row.difference, row.relative) = (58.1 * US, -3.1 * US, Some(-0.0507));
    (row.interval, row.verdict) = (Some([-3.8 * US, -2.4 * US]), Verdict::Faster);
    result.contrasts[0].rows.iter_mut().for_each(|row| row.resolution = None);
    result
}

/// Two gates do not hold.
pub fn untrusted() -> RunResult {
    let mut result = slower();
    result.trust.trusted = false;
    result.trust.slices_failed = 9;
    result.trust.slices_repeated = 8;
    let gates = &mut result.trust.gates;
    gates[1] = failing("send_lag", "send lag p99 310 µs", 7, "Give the load a CPU of its own (--load-cpus).");
    gates[4] = failing(
        "steal",
        "stolen CPU 4.2 %",
        3,
        "Measure when the host is quieter, or on a machine of your own.",
    );
    for slice in result.slices.iter_mut().take(2) {
        slice.failed_gates = vec!["send lag p99 was 310 µs, more than 50 µs".to_owned()];
        slice.errors = BTreeMap::from([("reset".to_owned(), 1), ("timeout".to_owned(), 3)]);
    }
    result
}

/// Five platforms under two loads.
pub fn platforms_and_loads() -> RunResult {
    let mut result = slower();
    result.run.name = "monolith-vs-kubernetes".to_owned();
    result.run.question = None;
    result.cells.clear();
    result.contrasts.clear();
    result.noise.clear();
    let platforms = ["host", "docker", "kubernetes", "static pod", "kubernetes hostNetwork", "other node"];
    for (load, rate) in [("100/min uniform", 100.0 / 60.0), ("2000/s Poisson", 2000.0)] {
        let baseline = result.cells.len();
        for (index, platform) in platforms.iter().enumerate() {
            let id = result.cells.len();
            let role = if index == 0 { Role::Baseline } else { Role::Candidate };
            result.cells.push(cell(id, platform, role, load, rate, 61.2 + 4.1 * index as f64));
            if index > 0 {
                let shift = 4.1 * index as f64 * US;
                let mut contrast = contrast(
                    baseline,
                    id,
                    &[
                        (
                            "response p50",
                            Unit::Nanoseconds,
                            61.2 * US,
                            61.2 * US + shift,
                            Some([shift - 600.0, shift + 700.0]),
                            Some(800.0),
                            Verdict::Slower,
                        ),
                        (
                            "response p99",
                            Unit::Nanoseconds,
                            212.0 * US,
                            212.0 * US + shift,
                            Some([shift - 13.0 * US, shift + 13.0 * US]),
                            Some(15.0 * US),
                            Verdict::Unresolved,
                        ),
                        (
                            "CPU per request",
                            Unit::Nanoseconds,
                            38.1 * US,
                            38.2 * US,
                            Some([-200.0, 300.0]),
                            Some(200.0),
                            Verdict::Equivalent,
                        ),
                        (
                            "softirqs per request",
                            Unit::Count,
                            4.0,
                            6.0,
                            Some([2.0, 2.0]),
                            Some(0.01),
                            Verdict::More,
                        ),
                    ],
                );
                if rate < 2.0 {
                    contrast.rows[1].interval = None;
                    contrast.rows[1].note = Some("36 requests are too few for this quantile".to_owned());
                }
                result.contrasts.push(contrast);
            }
        }
    }
    result.slices = slices(&result.cells, 2, 12);
    result.trust.slices = result.slices.len();
    result.trust.slices_repeated = 2;
    result
}

/// Ctrl-C after three blocks: figures, but no claim.
pub fn interrupted() -> RunResult {
    let mut result = slower();
    result.run.state = RunState::Interrupted;
    (result.plan.blocks_measured, result.plan.deployments) = (3, 1);
    result.plan.seconds_to_settle = None;
    for row in &mut result.contrasts[0].rows {
        (row.interval, row.p_holm, row.resolution) = (None, None, None);
        row.verdict = Verdict::Unresolved;
        row.note = Some("3 blocks are too few for a claim, which takes 6".to_owned());
    }
    for figure in result.cells.iter_mut().flat_map(|cell| &mut cell.figures) {
        figure.t_interval = None;
    }
    result.slices = slices(&result.cells, 1, 3);
    result.trust.slices = result.slices.len();
    result
}

/// A service died before the first slice.
pub fn empty() -> RunResult {
    let mut result = slower();
    result.run.state = RunState::Failed;
    result.run.failures = vec![
        "orders on pod ended before it was ready (exit code 2). Its last output:\n  error: no such option: --dealy\n  see orders --help"
            .to_owned(),
    ];
    (result.plan.blocks_measured, result.plan.deployments) = (0, 0);
    result.plan.seconds_to_settle = None;
    for cell in &mut result.cells {
        cell.deployments.clear();
        cell.figures.clear();
        cell.answered = 0;
    }
    for contrast in result.contrasts.iter_mut().chain(&mut result.noise) {
        contrast.rows.clear();
    }
    result.contrasts.clear();
    result.noise.clear();
    result.slices.clear();
    result.trust =
        Trust { trusted: false, gates: Vec::new(), slices: 0, slices_failed: 0, slices_repeated: 0 };
    result
}

fn machine() -> Machine {
    Machine {
        distribution: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel: Some("6.1.0-28-amd64".to_owned()),
        architecture: Some("x86_64".to_owned()),
        cpu_model: Some("Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz".to_owned()),
        cpus: Some(2),
        governor: Some("performance".to_owned()),
        memory_bytes: Some(24 << 30),
        ..Machine::default()
    }
}

/// Of a kernel that tells everything but throttling.
fn observations(cell: usize) -> Observations {
    Observations {
        wall_ns: Some(1_500_000_000),
        service_cpu_ns: Some(114_300_000 + 8_700_000 * cell as u64),
        machine: Some(MachineCpu { user_ns: 410_000_000, steal_ns: 1_500_000, ..MachineCpu::default() }),
        voluntary_switches: Some(3_000),
        memory_bytes: Some(8_400_000),
        ..Observations::default()
    }
}

fn cell(id: usize, platform: &str, role: Role, load: &str, rate: f64, p50_us: f64) -> Cell {
    let prime = if role == Role::Twin { "′" } else { "" };
    let percentiles =
        Percentiles { p50: (p50_us * US) as u64, p90: 98_000, p99: 212_000, p999: 1_900_000, max: 3_100_000 };
    Cell {
        id,
        service: "orders".to_owned(),
        platform: platform.to_owned(),
        load: load.to_owned(),
        rate_per_second: Some(rate),
        connections: 16,
        role,
        label: format!("{platform}{prime}"),
        interleave: "slices".to_owned(),
        deployments: (0..2)
            .map(|round| Deployment {
                round,
                ready_ms: 12.5,
                warmup_s: 3.0,
                stationary: true,
                left_out: Vec::new(),
                response_mean_ns: p50_us * US * 1.04 + f64::from(round) * 200.0,
                response_p99_ns: 212_000 + u64::from(round) * 4_000,
                rate_per_second: rate * 0.9999,
            })
            .collect(),
        answered: 72_000,
        errors: BTreeMap::new(),
        figures: vec![
            figure("response.mean", "response mean", p50_us * US * 1.04, [0.98, 1.02]),
            figure("response.p50", "response p50", p50_us * US, [0.99, 1.01]),
            figure("response.p99", "response p99", 212.0 * US, [0.94, 1.07]),
        ],
        histograms: Histograms {
            response: "HISTFAAAAA==".to_owned(),
            service: "HISTFAAAAA==".to_owned(),
            send_lag: "HISTFAAAAA==".to_owned(),
            response_percentiles: percentiles,
            service_percentiles: percentiles,
            send_lag_percentiles: Percentiles {
                p50: 400,
                p90: 1_900,
                p99: 6_000,
                p999: 31_000,
                max: 110_000,
            },
        },
    }
}

fn figure(metric: &str, label: &str, value: f64, [low, high]: [f64; 2]) -> Figure {
    Figure {
        metric: metric.to_owned(),
        label: label.to_owned(),
        unit: Unit::Nanoseconds,
        value,
        t_interval: Some([value * low, value * high]),
    }
}

fn contrast(baseline: usize, candidate: usize, rows: &[Sample<'_>]) -> Contrast {
    let row = |&(label, unit, baseline, candidate, interval, resolution, verdict): &Sample<'_>| Row {
        metric: label.trim().replace(' ', "."),
        label: label.to_owned(),
        primary: !label.starts_with(' '),
        unit,
        baseline,
        candidate,
        difference: candidate - baseline,
        relative: (baseline != 0.0).then(|| (candidate - baseline) / baseline),
        interval,
        p_holm: interval.map(|[low, high]| if low > 0.0 || high < 0.0 { 0.0004 } else { 0.41 }),
        margin: baseline * 0.01,
        resolution,
        verdict,
        note: None,
        block_differences: vec![candidate - baseline; 24],
    };
    Contrast { baseline, candidate, rows: rows.iter().map(row).collect() }
}

fn gate(gate: &str, text: &str, remedy: &str) -> GateSummary {
    GateSummary {
        gate: gate.to_owned(),
        text: text.to_owned(),
        holds: true,
        failed: 0,
        remedy: remedy.to_owned(),
    }
}

fn failing(name: &str, text: &str, failed: usize, remedy: &str) -> GateSummary {
    GateSummary { holds: false, failed, ..gate(name, text, remedy) }
}

fn slices(cells: &[Cell], rounds: u32, blocks: u32) -> Vec<Slice> {
    let order = (0..rounds).flat_map(|round| (0..blocks).map(move |block| (round, block)));
    order
        .flat_map(|(round, block)| {
            cells.iter().zip(0..).map(move |(cell, position)| (round, block, cell, position))
        })
        .enumerate()
        .map(|(index, (round, block, cell, position))| Slice {
            cell: cell.id,
            round,
            block,
            position,
            attempt: 0,
            counted: true,
            at_s: 10.0 + 1.6 * index as f64,
            duration_s: 1.5,
            due: 3_000,
            answered: 3_000,
            errors: BTreeMap::new(),
            rate_per_second: 2_000.0,
            response_mean_ns: 63_648.0,
            response: cell.histograms.response_percentiles,
            service: cell.histograms.service_percentiles,
            send_lag: cell.histograms.send_lag_percentiles,
            observations: observations(cell.id),
            failed_gates: Vec::new(),
        })
        .collect()
}

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
        cell: 2,
        claimed,
        is_share,
        found,
        interval,
        judgement,
        note: None,
    };
    let claim = |text: &str, judgement, findings| ClaimResult {
        text: text.to_owned(),
        metric: "response mean".to_owned(),
        judgement,
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
                note: Some("no gap to close: pod was not seen to differ from the baseline".to_owned()),
                ..finding([0.48, 0.72], true, None, None, ClaimJudgement::OutOfReach)
            }],
        ),
    ];
    let facts = serde_json::json!({"version": "20.10"});
    let summary = "Docker Engine 20.10.24, overlay2, cgroup v1".to_owned();
    result.surroundings.insert("pod".to_owned(), Surroundings { summary, facts });
    result
}
