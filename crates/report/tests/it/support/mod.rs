//! Invented results, one per situation that a reader can meet. Each starts from `slower` and changes what sets it apart.

mod conditions;
pub mod doctor;
mod evidence;
pub mod free_text;
mod ladder;
pub mod load;
mod many;
mod parts;
mod preview;
mod starts;
mod swept;

use std::collections::BTreeMap;

pub use conditions::{untrusted_with_conditions, with_conditions, with_many_conditions};
pub use evidence::{capacities, pages, with_evidence};
pub use ladder::ladder;
use loadline_model::notes::{Change, Circumstance, Note, Resources};
use loadline_model::platform::Limits;
use loadline_model::result::*;
use loadline_model::tails::Cause;
use loadline_model::{CellId, TimeSpent};
pub use many::{six_by_six, trusted_in_part};
use parts::*;
pub use preview::preview;
pub use starts::with_starts_and_claims;
pub use swept::{connections, cpu_limits};

const US: f64 = 1e3;
const MS: f64 = 1e6;

/// All of them.
pub fn all() -> Vec<RunResult> {
    vec![
        slower(),
        equivalent(),
        unresolved(),
        faster_without_a_twin(),
        with_starts_and_claims(),
        with_conditions(),
        untrusted(),
        platforms_and_loads(),
        six_by_six(),
        ladder(),
        other_baselines(),
        interrupted(),
        joined(),
        with_tails(),
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
            command_line: [
                "loadline",
                "compare",
                "--service",
                "orders --orders 12",
                "--on",
                "host",
                "--on",
                "pod",
            ]
            .map(str::to_owned)
            .to_vec(),
            version: "0.1.0".to_owned(),
            seed: 7,
            tags: Vec::new(),
            time_spent: Some(TimeSpent {
                total_s: 52.0,
                starting_s: 1.4,
                ready_s: 0.1,
                warming_up_s: 4.7,
                measuring_s: 42.3,
                repeating_s: 1.8,
                stopping_s: 0.8,
                ..TimeSpent::default()
            }),
            experiment: serde_json::json!({"service": {"builtin": "orders"}}),
        },
        machine: machine(),
        plan: PlanInfo {
            slice_s: 1.5,
            longest_slice_s: None,
            blocks: 12,
            deployments: 2,
            deployments_planned: 2,
            blocks_measured: 24,
            confidence: 0.95,
            interval_method: Statement::text(
                "hierarchical bootstrap over deployments and blocks (Davison and Hinkley 1997, section 3.8)",
            ),
            service_cpus: vec![0],
            load_cpus: vec![1],
            until: None,
            seconds_to_settle: Some(SecondsToSettle {
                metric: "response p99".to_owned(),
                within: 0.05,
                seconds: 2_460.0,
                run_seconds: 2_570.0,
                deployments: 44,
                needs_more_time: false,
            }),
        },
        contrasts: vec![Contrast { twin: Some(CellId(1)), ..contrast(0, 2, &rows) }],
        noise: vec![contrast(0, 1, &rows[..1])],
        cells,
        sweeps: Vec::new(),
        scalability: Vec::new(),
        capacities: None,
        ladders: Vec::new(),
        claims: Vec::new(),
        conditions: Vec::new(),
        starts: Vec::new(),
        runtimes: Vec::new(),
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
            twins_differ: Vec::new(),
            repeats: Repeats::default(),
        },
        metrics: Vec::new(),
        slices,
        notes: vec![Statement::text(
            "The CPUs were chosen automatically: this machine has two, so that the service has one and the load the other.",
        )],
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
        row.bound = Some(row.baseline * 0.0043);
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

/// A pod compared with host and with docker, which is compared with nothing; a static pod beside them that nothing is compared with.
pub fn other_baselines() -> RunResult {
    let mut result = slower();
    result.run.question = None;
    result.cells.push(cell(3, "docker", Role::Baseline, "2000/s Poisson", 2000.0, 63.0));
    result.cells.push(cell(4, "static pod", Role::Uncompared, "2000/s Poisson", 2000.0, 64.0));
    let with_docker = (
        "response p50",
        Unit::Nanoseconds,
        63.0 * US,
        65.3 * US,
        Some([1.6 * US, 3.0 * US]),
        None,
        Verdict::Slower,
    );
    result.contrasts.push(contrast(3, 2, &[with_docker]));
    let limits = |cpus, memory_bytes| Limits { cpus, memory_bytes };
    result.notes = vec![Statement::of(Note::UnequalResources {
        candidate: "orders on pod".to_owned(),
        candidate_has: Resources { limits: limits(Some(0.5), Some(512 << 20)), cpus: Some(vec![0, 1]) },
        baseline: "orders on docker".to_owned(),
        baseline_has: Resources { limits: limits(None, None), cpus: None },
    })];
    result.claims = vec![ClaimResult {
        text: "a pod adds 2 to 3 µs to a container".to_owned(),
        metric: "response p50".to_owned(),
        metric_unit: Unit::Nanoseconds,
        published_in: None,
        published_baseline: None,
        judgement: ClaimJudgement::Confirmed,
        trusted: true,
        must: false,
        findings: vec![Finding {
            cell: CellId(2),
            against: Some(CellId(3)),
            claimed: [2.0 * US, 3.0 * US],
            is_share: false,
            found: Some(2.3 * US),
            interval: Some([2.1 * US, 2.9 * US]),
            baseline: None,
            p_holm: Some(1.0),
            trusted: true,
            note: None,
            judgement: ClaimJudgement::Confirmed,
        }],
    }];
    result
}

/// As `slower`, where a CPU limit held the pod back, and the host had none.
pub fn throttled() -> RunResult {
    let mut result = slower();
    result.cells[2].limits = Limits { cpus: Some(0.3), memory_bytes: Some(512 << 20) };
    let throttling = Throttling { periods: 360, throttled_periods: 214, ns_per_second: 241.0 * MS };
    result.cells[2].throttling = Some(throttling);
    // In one period, too short to be worth its name.
    result.cells[0].throttling =
        Some(Throttling { periods: 360, throttled_periods: 1, ns_per_second: 0.02 * MS });
    result
}

/// The same, with what the slowest requests met: of the pod mostly throttling, of the host nothing in particular.
pub fn with_tails() -> RunResult {
    let mut result = throttled();
    let cause = |cause, [touched, by_chance]: [f64; 2], [time_share, time_by_chance]: [f64; 2]| TailCause {
        cause,
        touched,
        by_chance,
        time_share,
        time_by_chance,
    };
    let tail = |from_ns, causes| Some(Tail { requests: 256, from_ns, causes });
    result.cells[0].tail = tail(212_000, vec![cause(Cause::RunQueue, [0.11, 0.1], [0.02, 0.02])]);
    result.cells[2].tail = tail(
        219_000,
        vec![
            cause(Cause::OtherClient, [0.5, 0.3], [0.25, 0.08]),
            cause(Cause::Throttled, [0.93, 0.2], [0.46, 0.05]),
        ],
    );
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
    result.contrasts[0].twin = None;
    result
}

/// The baseline and its twin differ.
pub fn twin_differs() -> RunResult {
    let mut result = slower();
    result.trust.twins_differ = vec![TwinDifference {
        baseline: CellId(0),
        twin: CellId(1),
        metric: "response p50".to_owned(),
        unit: Unit::Nanoseconds,
        difference: 1.2 * US,
        interval: [0.7 * US, 1.7 * US],
        p_holm: 0.004,
    }];
    result
}

/// Two gates do not hold.
pub fn untrusted() -> RunResult {
    let mut result = slower();
    result.trust.trusted = false;
    result.plan.seconds_to_settle = None;
    let rows = result.contrasts.iter_mut().chain(&mut result.noise).flat_map(Contrast::all_rows_mut);
    rows.for_each(|row| row.trusted = false);
    for claim in &mut result.claims {
        claim.trusted = false;
        claim.findings.iter_mut().for_each(|finding| finding.trusted = false);
    }
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
        slice.failed_gates = vec![Statement::text("send lag p99 was 310 µs, more than 50 µs")];
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
                    contrast.rows[1].note =
                        Some(Statement::text("36 requests are too few for this quantile"));
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
        row.note = Some(Statement::text("3 blocks are too few for a claim, which takes 6"));
    }
    for figure in result.cells.iter_mut().flat_map(|cell| &mut cell.figures) {
        figure.t_interval = None;
    }
    result.slices = slices(&result.cells, 1, 3);
    result.trust.slices = result.slices.len();
    result
}

/// One platform alone: there is nothing to compare it with.
pub fn alone() -> RunResult {
    let mut result = slower();
    result.cells.truncate(2);
    result.contrasts.clear();
    result
}

/// Two runs of the same platforms, whose later cells are compared with the same ones of the earlier run.
pub fn joined() -> RunResult {
    let mut result = slower();
    result.run.name = "run 4 against run 3".to_owned();
    (result.run.question, result.run.time_spent, result.plan.seconds_to_settle) = (None, None, None);
    let of_run = |run: u32, first: usize, slower: f64| {
        let cell = |(at, (platform, role, p50_us)): (usize, (&str, Role, f64))| {
            let mut cell = cell(first + at, platform, role, "2000/s Poisson", 2000.0, p50_us + slower);
            cell.service = format!("orders (run {run})");
            cell.run = Some(format!("run {run}"));
            cell.label = format!("{} on {}", cell.service, cell.label);
            cell
        };
        let compared = if run == 3 { Role::Baseline } else { Role::Candidate };
        let cells = [("host", compared, 61.2), ("host", Role::Twin, 61.1), ("pod", compared, 65.3)];
        cells.into_iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let (earlier, later) = (of_run(3, 0, 0.0), of_run(4, 3, 2.2));
    let of_cells = |cells: &[Cell], begins_s: f64| {
        let place = |slice: Slice| Slice { at_s: slice.at_s + begins_s, own_at_s: Some(slice.at_s), ..slice };
        slices(cells, 2, 12).into_iter().map(place).collect::<Vec<_>>()
    };
    result.slices = of_cells(&earlier, 0.0);
    // As if it had gone on.
    let ended_s = result.slices.last().map_or(0.0, |slice| slice.at_s + slice.duration_s);
    result.slices.extend(of_cells(&later, ended_s));
    result.trust.slices = result.slices.len();
    let against = |baseline: usize, before_us: f64| {
        let p50 = (
            "response p50",
            Unit::Nanoseconds,
            before_us * US,
            (before_us + 2.2) * US,
            Some([1.5 * US, 2.9 * US]),
            Some(0.9 * US),
            Verdict::Slower,
        );
        contrast(baseline, baseline + 3, &[p50])
    };
    result.contrasts = vec![against(0, 61.2), against(2, 65.3)];
    result.noise = Vec::new();
    result.cells = [earlier, later].concat();
    result.notes = vec![Statement::of(Note::NotInterleaved {
        before: "run 3".to_owned(),
        after: "run 4".to_owned(),
        changes: vec![Change {
            what: Circumstance::Kernel,
            before: "6.1.0-27-amd64".to_owned(),
            after: "6.1.0-28-amd64".to_owned(),
        }],
    })];
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
    result.trust = Trust {
        trusted: false,
        gates: Vec::new(),
        slices: 0,
        slices_failed: 0,
        slices_repeated: 0,
        twins_differ: Vec::new(),
        repeats: Repeats::default(),
    };
    result
}
