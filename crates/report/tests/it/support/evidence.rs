//! Invented results with what they were made of, as a page shows it: distributions, slices that differ, probes, stacks.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use loadline_model::experiment::{Bound, Objective};
use loadline_model::metrics::{HigherIs, MetricDeclaration};
use loadline_model::profile::CallTree;
use loadline_model::result::{CellCapacity, CurvePoint, Knee, Percentiles, Slice};
use loadline_model::rows::Purpose;
use loadline_model::{SparseHistogram, encode_histogram, new_histogram};
use loadline_report::{CellProfile, Evidence, json};

use super::*;

/// Its name, and what it shows.
type Page = (&'static str, RunResult, Evidence);

/// Results that differ in what a page shows of them.
pub fn pages() -> Vec<Page> {
    let plain = |name, result| {
        let (result, evidence) = with_evidence(result);
        (name, result, evidence)
    };
    let mut pages = vec![
        plain("slower", disturbed(slower())),
        plain("untrusted", failing_requests(untrusted())),
        plain("claims", with_starts_and_claims()),
        plain("conditions", with_conditions()),
        plain("platforms", platforms_and_loads()),
        plain("many", six_by_six()),
        plain("limits", cpu_limits()),
        plain("connections", following_a_law(connections())),
        plain("capacities", capacities()),
        plain("alone", alone()),
        plain("joined", joined()),
        plain("interrupted", interrupted()),
        plain("twin", scattered(twin_differs())),
        declaring(plain("tails", disturbed(with_tails()))),
        plain("hostile", hostile(disturbed(with_tails()))),
        plain("hostile-claims", hostile(with_starts_and_claims())),
        plain("hostile-conditions", hostile(with_conditions())),
        plain("hostile-capacities", hostile(capacities())),
    ];
    pages.push(("failed", empty(), Evidence::default()));
    // The author of the service chooses the names of functions.
    for (name, result, before) in [("layers", ladder(), ""), ("hostile-layers", hostile(ladder()), ATTACK)] {
        let (result, mut evidence) = with_evidence(result);
        let profiles = [(0, 30_000), (3, 36_000), (4, 37_000)];
        evidence.profiles = profiles.map(|(cell, scale)| stacks(cell, scale, before)).into();
        pages.push((name, result, evidence));
    }
    pages
}

/// With the failed requests of the slices counted in their cells, and a status among them.
fn failing_requests(mut result: RunResult) -> RunResult {
    result.slices[2].errors = BTreeMap::from([("GET /orders: 503".to_owned(), 2)]);
    result.trust.gates[2] = gate("errors", "errors 10", "");
    for slice in &result.slices {
        let of_cell = &mut result.cells[slice.cell.0].errors;
        for (kind, count) in &slice.errors {
            *of_cell.entry(kind.clone()).or_default() += count;
        }
    }
    result
}

/// With the Universal Scalability Law that goes through the points of `connections`.
fn following_a_law(mut result: RunResult) -> RunResult {
    let fitted = |value: f64| Fitted { value, interval: Some([value * 0.98, value * 1.03]) };
    result.scalability = vec![Scalability {
        label: "orders on host".to_owned(),
        points: vec![(1.0, 16_100.0), (8.0, 33_000.0), (64.0, 33_400.0)],
        one_per_second: fitted(16_100.0),
        contention: fitted(0.406),
        crosstalk: fitted(0.001_06),
        peak: Some(23.7),
        worst_error: 0.001,
        holds: true,
    }];
    result
}

/// With metrics of each kind that a probe may declare.
fn declaring((name, mut result, evidence): Page) -> Page {
    let (collections, heap, reads) = ("jvm.gc.collections", "jvm.heap.used", "app.disk.reads");
    result.metrics = vec![
        MetricDeclaration::counter(collections, Unit::Count)
            .shown_as("collections per request", HigherIs::More),
        MetricDeclaration::level(heap, Unit::Bytes),
        MetricDeclaration::counter(reads, Unit::Count).of_the_machine(),
    ];
    for (slice, at) in result.slices.iter_mut().zip(0..) {
        let seen = std::mem::take(&mut slice.observations);
        slice.observations =
            seen.with(collections, 3 + at % 5).with(heap, (40 + at % 9) << 20).with(reads, 120 + at % 7);
    }
    (name, result, evidence)
}

/// With deployments that lie far apart.
fn scattered(mut result: RunResult) -> RunResult {
    for (cell, share) in result.cells.iter_mut().zip([0.012, 0.08, 0.14]) {
        cell.deployment_spread.as_mut().expect("set by slower").share = share;
    }
    result
}

/// What would run, close or fetch something if it were not text.
const ATTACK: &str = "</script></style>\"'><img src=https://example.org/x onerror=\"window.ran=1\"><script>window.ran=1</script>";
/// Texts that are of loadline's choice, though their type says nothing of it: what is drawn is found by them.
const OWN_WORDS: [&str; 4] = ["metric", "histogram", "schema", "version"];

/// The same with an attack before each text of others' choice.
pub fn hostile(mut result: RunResult) -> RunResult {
    result.run.failures = vec![ATTACK.to_owned()];
    result.run.question = Some(ATTACK.to_owned());
    result.notes.push(Statement::text(ATTACK.to_owned()));
    let errors = || BTreeMap::from([(ATTACK.to_owned(), 3)]);
    result.cells.iter_mut().for_each(|cell| cell.errors = errors());
    if let Some(slice) = result.slices.first_mut() {
        slice.failed_gates = vec![Statement::text(ATTACK.to_owned())];
        slice.errors = errors();
    }
    let mut written = Vec::new();
    json(&result, &mut written).expect("a vector takes everything");
    let mut document: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
    for place in free_text::places(&document) {
        if OWN_WORDS
            .iter()
            .any(|word| place.rsplit('/').find(|key| key.parse::<usize>().is_err()) == Some(word))
        {
            continue;
        }
        let text = document.pointer_mut(&place).expect("it is there");
        *text = format!("{ATTACK}{}", text.as_str().unwrap_or_default()).into();
    }
    serde_json::from_value(document).expect("a result with other texts")
}

/// The same with distributions and slices of their own; each call gives the same.
pub fn with_evidence(mut result: RunResult) -> (RunResult, Evidence) {
    let mut random = Random(7);
    let medians: Vec<f64> =
        result.cells.iter().map(|cell| cell.histograms.response_percentiles.p50 as f64).collect();
    result.slices.retain(|slice| slice.cell.0 < medians.len());
    let mut times = Vec::new();
    let mut merged: Vec<Histogram<u64>> = result.cells.iter().map(|_| new_histogram()).collect();
    for slice in &mut result.slices {
        let drift = 1.0 + 0.08 * (slice.at_s / 17.0).sin();
        let slow = if slice.counted { 1.0 } else { 1.6 };
        let drawn = random.times(medians[slice.cell.0] * drift * slow, 100);
        measured(slice, &drawn, &mut random);
        if slice.counted {
            drawn.add_to(&mut merged[slice.cell.0]);
        }
        times.push(drawn);
    }
    for (cell, times) in result.cells.iter_mut().zip(&merged) {
        let encoded = BASE64_STANDARD.encode(encode_histogram(times));
        (cell.histograms.response, cell.histograms.service) = (encoded.clone(), encoded);
        cell.answered = times.len();
    }
    let rows = result.contrasts.iter_mut().flat_map(|contrast| &mut contrast.rows);
    for row in rows {
        let (middle, noise) = (row.difference, row.baseline * 0.04);
        row.block_differences = (0..24).map(|_| middle + noise * (random.next() - 0.5)).collect();
    }
    (result, Evidence { profiles: Vec::new(), response_times: times })
}

fn measured(slice: &mut Slice, times: &SparseHistogram, random: &mut Random) {
    let at = |quantile| times.value_at_quantile(quantile);
    slice.response =
        Percentiles { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: times.max() };
    slice.service = slice.response;
    slice.response_mean_ns = times.mean();
    slice.observations = observations(slice.cell.0)
        .with("cpu.service", 120_000_000 + (random.next() * 9e6) as u64 + 9_000_000 * slice.cell.0 as u64)
        .with("switches.voluntary", 3_000 + (random.next() * 80.0) as u64)
        .with("cpu.run_queue_wait", (random.next() * 4e6) as u64);
}

/// Every seventh block was disturbed at first and measured again.
fn disturbed(mut result: RunResult) -> RunResult {
    let cells = result.cells.len();
    let mut slices = Vec::new();
    for (at, slice) in std::mem::take(&mut result.slices).into_iter().enumerate() {
        if (at / cells) % 7 == 3 {
            let gates = vec![Statement::text("other programs 25.0 %, more than 10 %")];
            slices.push(Slice { counted: false, failed_gates: gates, ..slice.clone() });
            slices.push(Slice { attempt: 1, ..slice });
        } else {
            slices.push(slice);
        }
    }
    for (at, slice) in slices.iter_mut().enumerate() {
        slice.at_s = 10.0 + 1.6 * at as f64;
    }
    result.trust.slices = slices.len();
    result.trust.slices_repeated = slices.iter().filter(|slice| slice.attempt > 0).count();
    result.slices = slices;
    result
}

/// Between the fourth and the sixth rate that is tried of either.
const COMMON_RATE: f64 = 14_000.0;

/// Two services that were searched for what they carry.
pub fn capacities() -> RunResult {
    let mut result = slower();
    result.run.question = None;
    let compared = std::mem::take(&mut result.contrasts);
    result.noise.clear();
    let cell = |cell: usize, rate: f64| CellCapacity {
        cell: CellId(cell),
        rate_per_second: Some(rate),
        interval: Some([rate * 0.95, rate * 1.04]),
        lower_bound: Some(rate * 0.9),
        upper_bound: Some(rate * 1.12),
        conditional_throughput: Some(rate * 0.9),
        for_longer: Some(rate * 0.94),
        carried_per_second: Some(rate * 0.95),
        slice_s: Some(2.5),
        knee: Some(Knee {
            rate_per_second: rate * (4.0 / 7.0),
            between: [rate * (3.0 / 7.0), rate * (5.0 / 7.0)],
        }),
        limited_by: Some("p99 <= 10ms".to_owned()),
        generator_limit: Some(80_000.0),
        trials: 24,
        findings: Vec::new(),
        curve: (1..=9)
            .map(|step| {
                // All are compared at the same rate.
                let (load, purpose) = match step {
                    5 => (COMMON_RATE / rate, Purpose::Common),
                    step => (f64::from(step) / 7.0, Purpose::Search),
                };
                let passed = if load < 1.0 { 3 } else { 0 };
                CurvePoint {
                    rate_per_second: rate * load,
                    achieved_per_second: rate * load.min(1.0),
                    success: if load < 1.0 { 1.0 } else { 0.98 },
                    p50_ns: (300.0 * US / (1.35 - load.min(1.3))) as u64,
                    p99_ns: (900.0 * US / (1.31 - load.min(1.3))) as u64,
                    passed,
                    failed: 3 - passed,
                    purpose,
                }
            })
            .collect(),
    };
    let objective = |text: &str, metric: &str, bound| Objective {
        text: text.to_owned(),
        metric: metric.to_owned(),
        bound,
        unit: None,
    };
    let bounds = vec![
        objective("p99 <= 10ms", "response.p99", Bound::AtMost(10.0 * MS)),
        objective("sent >= 99%", "sent", Bound::AtLeast(0.99)),
    ];
    result.capacities = Some(Capacities {
        objectives: bounds.iter().map(|objective| objective.text.clone()).collect(),
        bounds,
        precision: 0.05,
        cells: vec![cell(0, 21_300.0), cell(2, 18_700.0)],
        differences: vec![CapacityDifference {
            baseline: CellId(0),
            candidate: CellId(2),
            relative: -0.122,
            interval: [-0.151, -0.093],
            p_holm: 0.0004,
            margin: 0.1,
            p_equivalent: Some(0.93),
            verdict: Verdict::Fewer,
            trusted: true,
        }],
        at_the_same_rate: compared.clone(),
        at_their_own: compared.into_iter().map(twice_as_slow).collect(),
    });
    result
}

/// The same with twice the response times.
fn twice_as_slow(mut contrast: Contrast) -> Contrast {
    for row in contrast.rows.iter_mut().filter(|row| row.metric.starts_with("response.")) {
        for figure in [&mut row.baseline, &mut row.candidate, &mut row.difference] {
            *figure *= 2.0;
        }
        row.interval = row.interval.map(|ends| ends.map(|end| 2.0 * end));
    }
    contrast
}

/// With this before the name of each function.
fn stacks(cell: usize, scale: u64, before: &str) -> CellProfile {
    let mut stacks = CallTree::default();
    for (stack, ns) in [
        ("service;main;write;entry_SYSCALL_64_[k];tcp_sendmsg_[k]", 400),
        ("service;main;write;entry_SYSCALL_64_[k];tcp_sendmsg_[k];ip_output_[k]", 900),
        ("service;main;parse", 300),
        ("load;drive;epoll_wait", 700),
        ("softirq;net_rx_action_[k];veth_poll_[k]", 30 * cell as u64),
    ] {
        let names: Vec<String> = stack.split(';').map(|name| format!("{before}{name}")).collect();
        stacks.add(names.iter().map(String::as_str), ns * scale);
    }
    CellProfile { cell: CellId(cell), requests: 21_000, stacks }
}

/// A generator of its own, so that the pages stay the same (Knuth, TAOCP 2, 3.3.4).
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// So many times around a median, with a tail.
    fn times(&mut self, median: f64, count: u64) -> SparseHistogram {
        let mut times = SparseHistogram::default();
        for _ in 0..count {
            let wide = (self.next() + self.next() + self.next() - 1.5) * 0.3;
            let tail = if self.next() < 0.015 { 1.0 + 20.0 * self.next() } else { 1.0 };
            times.record_n((median * (1.0 + wide) * tail) as u64, 1);
        }
        times
    }
}
