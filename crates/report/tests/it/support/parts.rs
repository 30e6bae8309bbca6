//! What invented results are put together from.

use std::collections::BTreeMap;

use loadline_model::metrics::{RESIDENT_MEMORY, SERVICE_CPU, WALL};
use loadline_model::platform::Limits;
use loadline_model::result::*;
use loadline_model::{CellId, Machine, MachineCpu, Observations};

use super::US;

/// Figures of a row: label, unit, baseline, candidate, interval, resolution, verdict.
pub type Sample<'a> = (&'a str, Unit, f64, f64, Option<[f64; 2]>, Option<f64>, Verdict);

pub fn machine() -> Machine {
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
pub fn observations(cell: usize) -> Observations {
    let machine = MachineCpu { user_ns: 410_000_000, steal_ns: 1_500_000, ..MachineCpu::default() };
    Observations::default()
        .with(WALL, 1_500_000_000)
        .with(SERVICE_CPU, 114_300_000 + 8_700_000 * cell as u64)
        .with_machine_cpu(&machine)
        .with("switches.voluntary", 3_000)
        .with(RESIDENT_MEMORY, 8_400_000)
}

pub fn cell(id: usize, platform: &str, role: Role, load: &str, rate: f64, p50_us: f64) -> Cell {
    let prime = if role == Role::Twin { "′" } else { "" };
    let percentiles =
        Percentiles { p50: (p50_us * US) as u64, p90: 98_000, p99: 212_000, p999: 1_900_000, max: 3_100_000 };
    Cell {
        id: CellId(id),
        service: "orders".to_owned(),
        platform: platform.to_owned(),
        load: load.to_owned(),
        rate_per_second: Some(rate),
        connections: 16,
        new_connections: false,
        options: Default::default(),
        role,
        label: format!("{platform}{prime}"),
        run: None,
        limits: Limits::default(),
        interleave: "slices".to_owned(),
        deployments: (0..2)
            .map(|round| Deployment {
                round,
                ready_ms: 12.5,
                warmup_s: 3.0,
                stationary: true,
                warmup_service_p50_ns: vec![71_000, 64_000, 63_000],
                left_out: Vec::new(),
                response_p50_ns: (p50_us * US) as u64,
                response_mean_ns: p50_us * US * 1.04 + f64::from(round) * 200.0,
                response_p99_ns: 212_000 + u64::from(round) * 4_000,
                rate_per_second: rate * 0.9999,
            })
            .collect(),
        deployment_spread: Some(DeploymentSpread { metric: "response.p50".to_owned(), share: 0.012 }),
        answered: 72_000,
        errors: BTreeMap::new(),
        throttling: None,
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
        seen: None,
        tail: None,
    }
}

pub fn figure(metric: &str, label: &str, value: f64, [low, high]: [f64; 2]) -> Figure {
    Figure {
        metric: metric.to_owned(),
        label: label.to_owned(),
        primary: true,
        unit: Unit::Nanoseconds,
        value,
        t_interval: Some([value * low, value * high]),
    }
}

pub fn contrast(baseline: usize, candidate: usize, rows: &[Sample<'_>]) -> Contrast {
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
        degrees_of_freedom: interval.map(|_| 7.0),
        p_holm: interval.map(|[low, high]| if low > 0.0 || high < 0.0 { 0.0004 } else { 0.41 }),
        margin: baseline * 0.01,
        p_equivalent: interval.map(|_| if verdict == Verdict::Equivalent { 0.003 } else { 0.71 }),
        // Of 8 deployments: t at 95 % over t at 97.5 %.
        bound: interval.map(|[low, high]| {
            let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 * 0.8);
            (middle - half).abs().max((middle + half).abs())
        }),
        resolution,
        first_attempts: None,
        verdict,
        trusted: true,
        note: None,
        block_differences: vec![candidate - baseline; 24],
    };
    Contrast {
        baseline: CellId(baseline),
        candidate: CellId(candidate),
        twin: None,
        rows: rows.iter().map(row).collect(),
        by_request: Vec::new(),
        seen: None,
    }
}

pub fn gate(gate: &str, text: &str, remedy: &str) -> GateSummary {
    GateSummary {
        gate: serde_json::from_value(gate.into()).expect("the name of a gate"),
        figure: Statement::text(text),
        holds: true,
        cells: Vec::new(),
        failed: 0,
        remedy: Statement::text(remedy),
    }
}

pub fn failing(name: &str, text: &str, failed: usize, remedy: &str) -> GateSummary {
    GateSummary { holds: false, failed, ..gate(name, text, remedy) }
}

pub fn slices(cells: &[Cell], rounds: u32, blocks: u32) -> Vec<Slice> {
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
            own_at_s: None,
            duration_s: 1.5,
            due: 3_000,
            answered: 3_000,
            errors: BTreeMap::new(),
            rate_per_second: 2_000.0,
            response_mean_ns: 63_648.0,
            response: cell.histograms.response_percentiles,
            service: cell.histograms.service_percentiles,
            send_lag: cell.histograms.send_lag_percentiles,
            observations: observations(cell.id.0),
            failed_gates: Vec::new(),
        })
        .collect()
}
