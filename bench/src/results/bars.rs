//! What loadline is asked to reach, and whether it did.

use crate::contestant::Since;
use crate::memory::{CONNECTIONS, MANY, Memory};
use crate::rate::{Fixed, Poisson, Row};
use crate::results::Results;
use crate::results::table::{megabytes, signed_spread, spread};
use crate::saturation::{REFERENCE, Saturation};
use crate::spread::Spread;

/// CPU time a request, as a share of wrk's.
const CPU_SHARE: f64 = 0.88;
/// Throughput, as a share of wrk's.
const THROUGHPUT_SHARE: f64 = 0.98;
/// Error of the median, ns.
const MEDIAN_ERROR_NS: f64 = 3_000.0;
/// Error of the 99th percentile, ns, or as a share of it: the larger counts.
const P99_ERROR_NS: f64 = 10_000.0;
const P99_ERROR_SHARE: f64 = 0.05;
/// By how much the rate may be missed.
const RATE_ERROR: f64 = 0.001;
/// 99th percentile of the send lag, ns.
const SEND_LAG_NS: f64 = 20_000.0;
/// Probability below which gaps do not pass for exponential, over all rounds together.
const SIGNIFICANCE: f64 = 0.05;
/// Memory with many connections, bytes.
const MEMORY_BYTES: u64 = 100_000_000;
/// By how much memory may have grown: what is below is the noise of reading it.
const GROWTH: f64 = 0.01;
/// Cost of recording a request, ns.
const RECORDING_NS: f64 = 60.0;

/// One line of the answer.
pub struct Bar {
    /// What is judged.
    pub what: String,
    /// What is asked.
    pub bar: &'static str,
    /// What was seen.
    pub seen: String,
    /// Whether that is enough; `None` if it cannot be determined on this machine.
    pub met: Option<bool>,
}

/// Every bar of which something was measured.
pub fn all(results: &Results) -> Vec<Bar> {
    let mut bars = Vec::new();
    bars.extend(results.saturation.iter().flat_map(saturation));
    bars.extend(results.fixed.iter().flat_map(exactness));
    bars.extend(results.fixed.iter().flat_map(evenness));
    bars.extend(results.poisson.iter().map(poisson));
    bars.extend(results.memory.iter().flat_map(memory));
    bars.extend(results.recording_ns.map(|seen| Bar {
        what: "recording one request".to_owned(),
        bar: "≤ 60 ns",
        seen: format!("{seen:.1} ns"),
        met: Some(seen <= RECORDING_NS),
    }));
    bars
}

fn saturation(table: &Saturation) -> Vec<Bar> {
    let (Some(loadline), Some(reference)) = (table.row("loadline"), table.row(REFERENCE)) else {
        return Vec::new();
    };
    let of = |what: &str| format!("closed loop, {} connections: {what}", table.connections);
    let cpu = Spread::of_ratios(&loadline.cpu_ns, &reference.cpu_ns);
    let throughput = Spread::of_ratios(&loadline.per_second, &reference.per_second);
    vec![
        Bar {
            what: of("CPU time a request"),
            bar: "≤ 0.88 of wrk's",
            seen: spread(cpu, 1.0, 3),
            met: cpu.map(|ratio| ratio.median <= CPU_SHARE),
        },
        Bar {
            what: of("throughput"),
            bar: "≥ 0.98 of wrk's",
            seen: spread(throughput, 1.0, 3),
            met: throughput.map(|ratio| ratio.median >= THROUGHPUT_SHARE),
        },
    ]
}

/// Rows of loadline, which is there once for every way of taking timestamps.
fn loadlines(table: &Fixed) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.name.starts_with("loadline"))
}

fn exactness(table: &Fixed) -> Vec<Bar> {
    let bars = loadlines(table).flat_map(|row| {
        let errors = || row.runs.iter().filter_map(|run| run.errors(Since::Due));
        let p50 = Spread::of(errors().map(|error| error.p50_ns));
        let p99 = Spread::of(errors().map(|error| error.p99_ns));
        let true_p99 = Spread::of(row.runs.iter().map(|run| run.truth.service.p99_ns));
        let allowed = true_p99.map_or(0.0, |p99| p99.median * P99_ERROR_SHARE).max(P99_ERROR_NS);
        let of = |what: &str| format!("{}/s, {}: error of the {what} response time", table.rate, row.name);
        [
            Bar {
                what: of("median"),
                bar: "≤ 3 µs",
                seen: format!("{} µs", signed_spread(p50, 1e3, 1)),
                met: p50.map(|error| error.median.abs() <= MEDIAN_ERROR_NS),
            },
            Bar {
                what: of("p99"),
                bar: "≤ 10 µs or 5 %",
                seen: format!("{} µs of {}", signed_spread(p99, 1e3, 1), spread(true_p99, 1e3, 1)),
                met: p99.map(|error| error.median.abs() <= allowed),
            },
        ]
    });
    bars.collect()
}

fn evenness(table: &Fixed) -> Vec<Bar> {
    let Some(row) = loadlines(table).next() else { return Vec::new() };
    let achieved = Spread::of(row.runs.iter().map(|run| run.achieved));
    let lag = Spread::of(row.runs.iter().filter_map(|run| Some(run.account.send_lag?.p99_ns)));
    vec![
        Bar {
            what: format!("{}/s: rate achieved", table.rate),
            bar: "within 0.1 %",
            seen: format!("{} %", spread(achieved, 0.01, 2)),
            met: achieved.map(|share| (share.median - 1.0).abs() <= RATE_ERROR),
        },
        Bar {
            what: format!("{}/s: send lag, p99", table.rate),
            bar: "≤ 20 µs",
            seen: format!("{} µs", spread(lag, 1e3, 1)),
            met: lag.map(|lag| lag.median <= SEND_LAG_NS),
        },
    ]
}

fn poisson(poisson: &Poisson) -> Bar {
    let p_values = poisson.rounds.iter().map(|(_, fit)| fit.p_value);
    let smallest = p_values.fold(1.0, f64::min);
    // Bonferroni: the smallest of so many is expected to be small.
    let joint = (smallest * poisson.rounds.len() as f64).min(1.0);
    Bar {
        what: format!("Poisson arrivals at {}/s: Anderson–Darling of the gaps as they left", poisson.rate),
        bar: "passes at 5 %",
        seen: format!("p = {joint:.3} over {} rounds together", poisson.rounds.len()),
        met: Some(joint >= SIGNIFICANCE),
    }
}

fn memory(memory: &Memory) -> Vec<Bar> {
    let (opened, flat) = (&memory.connections, &memory.flat);
    let all_open = opened.seen >= CONNECTIONS as u64 && opened.complaint.is_none();
    let growth = flat.last_bytes as f64 / flat.settled_bytes as f64 - 1.0;
    let many = &memory.many;
    vec![
        Bar {
            what: format!("memory with {CONNECTIONS} connections"),
            bar: "≤ 100 MB",
            seen: match &opened.complaint {
                None => format!("{}, {} open", megabytes(opened.peak_bytes), opened.seen),
                Some(complaint) => complaint.clone(),
            },
            met: Some(all_open && opened.peak_bytes <= MEMORY_BYTES),
        },
        Bar {
            what: format!("{MANY} connections where the limit on files allows"),
            bar: "no error",
            seen: match &many.complaint {
                None => format!("{}, {} open", megabytes(many.peak_bytes), many.seen),
                Some(complaint) if memory.files < MANY as u64 => {
                    format!("the limit is {}: {complaint}", memory.files)
                }
                Some(complaint) => complaint.clone(),
            },
            met: (memory.files >= MANY as u64).then(|| many.complaint.is_none() && many.seen >= MANY as u64),
        },
        Bar {
            what: format!("memory from second 2 to second {:.0} at 20000/s", flat.time.as_secs_f64()),
            bar: "flat",
            seen: format!(
                "{} to {}, {:+.1} %",
                megabytes(flat.settled_bytes),
                megabytes(flat.last_bytes),
                growth * 100.0
            ),
            met: Some(growth <= GROWTH),
        },
    ]
}
