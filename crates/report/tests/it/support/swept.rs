//! Invented results of cells that differ in one number.

use super::*;

/// One service under five CPU limits and two loads: as a matrix of platforms names it.
pub fn cpu_limits() -> RunResult {
    let mut result = slower();
    result.run.name = "CPU limits".to_owned();
    result.run.question = Some("What does a CPU limit cost the orders service?".to_owned());
    let limits =
        [(1.0, 61.2, 0.0), (0.7, 61.3, 0.0), (0.5, 61.9, 4.0), (0.35, 80.5, 110.0), (0.25, 4_100.0, 290.0)];
    let loads = [("2000/s Poisson", Some(2000.0)), ("closed loop", None)];
    result.cells.clear();
    result.contrasts.clear();
    result.noise.clear();
    for (load, rate) in loads {
        let first = result.cells.len();
        for (at, (cpus, p50_us, throttled_ms)) in limits.into_iter().enumerate() {
            let role = if at == 0 { Role::Baseline } else { Role::Candidate };
            let id = result.cells.len();
            let mut cell =
                cell(id, &format!("host, {cpus} CPU"), role, load, rate.unwrap_or_default(), p50_us);
            (cell.rate_per_second, cell.limits.cpus) = (rate, Some(cpus));
            cell.figures.push(figure("cpu.throttled", "throttled", throttled_ms * MS, [0.9, 1.1]));
            let achieved = figure("rate.achieved", "achieved rate", 16_000.0 * cpus, [0.98, 1.02]);
            cell.figures.push(Figure { unit: Unit::PerSecond, ..achieved });
            result.cells.push(cell);
            let row = (
                "response p50",
                Unit::Nanoseconds,
                61.2 * US,
                p50_us * US,
                Some([(p50_us - 62.0) * US, (p50_us - 60.4) * US]),
                Some(0.8 * US),
                if p50_us > 62.0 { Verdict::Slower } else { Verdict::Unresolved },
            );
            result.contrasts.extend((at > 0).then(|| contrast(first, id, &[row])));
        }
        let mut points: Vec<SweepPoint> = limits
            .iter()
            .enumerate()
            .map(|(at, (cpus, ..))| SweepPoint { value: *cpus, cell: CellId(first + at) })
            .collect();
        points.reverse();
        result.sweeps.push(Sweep {
            over: "limits.cpu".to_owned(),
            name: "CPU limit".to_owned(),
            unit: Unit::Count,
            label: format!("orders on host, {load}"),
            points,
        });
    }
    result.slices = slices(&result.cells, 2, 12);
    result.trust.slices = result.slices.len();
    result
}

/// A platform alone in closed loops of three sizes.
pub fn connections() -> RunResult {
    let mut result = alone();
    let sizes = [(1, 61.2, 16_100.0), (8, 240.0, 33_000.0), (64, 1_900.0, 33_400.0)];
    result.cells.clear();
    result.noise.clear();
    for (connections, p50_us, per_second) in sizes {
        let id = result.cells.len();
        let mut cell = cell(id, "host", Role::Uncompared, "closed loop", 0.0, p50_us);
        (cell.rate_per_second, cell.connections) = (None, connections);
        let achieved = figure("rate.achieved", "achieved rate", per_second, [0.98, 1.02]);
        cell.figures.push(Figure { unit: Unit::PerSecond, ..achieved });
        result.cells.push(cell);
    }
    let point = |(at, (connections, ..)): (usize, &(usize, f64, f64))| SweepPoint {
        value: *connections as f64,
        cell: CellId(at),
    };
    result.sweeps = vec![Sweep {
        over: "connections".to_owned(),
        name: "connections".to_owned(),
        unit: Unit::Count,
        label: "orders on host, closed loop".to_owned(),
        points: sizes.iter().enumerate().map(point).collect(),
    }];
    result.slices = slices(&result.cells, 2, 12);
    result.trust.slices = result.slices.len();
    result
}
