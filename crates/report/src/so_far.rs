//! A run while it goes on: the lines that a terminal shows below its progress.

use loadline_model::result::Unit;
use loadline_model::so_far::{CellSoFar, DifferenceSoFar, MachineSoFar, SoFar};

use crate::figures::{self, NO_FIGURE, Scale};
use crate::text::{Align, Table};

/// The cells that were measured with their medians and differences, at most so many, and what the machine does; each line is narrower than `width`.
pub fn so_far(run: &SoFar, width: usize, most_cells: usize) -> Vec<String> {
    let has_several_loads = run.cells.iter().any(|cell| cell.load != run.cells[0].load);
    let measured: Vec<&CellSoFar> = run.cells.iter().filter(|cell| cell.p50_ns.is_some()).collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let columns = [("", Align::Left), ("p50 so far", Align::Point), ("difference, 95 %", Align::Point)];
    let mut table = Table::new(columns.map(|(heading, align)| (heading.to_owned(), align)).into());
    let scale = scale(&measured);
    for cell in measured.iter().take(most_cells) {
        let load = if has_several_loads { format!(" at {}", cell.load) } else { String::new() };
        let p50 = cell.p50_ns.map_or(NO_FIGURE.to_owned(), |ns| scale.figure(ns));
        let difference = cell.difference.map(|difference| spread(&scale, difference)).unwrap_or_default();
        table.push(vec![format!("  {}{load}", cell.label), p50, difference]);
    }
    let mut lines: Vec<String> = table.render(width).lines().map(|line| line.trim_end().to_owned()).collect();
    if measured.len() > most_cells {
        lines.push(format!("  … and {} more", measured.len() - most_cells));
    }
    lines.extend(machine(&run.machine));
    lines
}

/// The unit that all medians share, with the digits that the surest difference is worth.
fn scale(cells: &[&CellSoFar]) -> Scale {
    let medians: Vec<f64> = cells.iter().filter_map(|cell| cell.p50_ns).collect();
    let widths = cells.iter().filter_map(|cell| cell.difference?.half_width_ns);
    let scale = Scale::of(Unit::Nanoseconds, &medians);
    match widths.min_by(f64::total_cmp) {
        Some(half_width) => scale.with_uncertainty(half_width),
        None => scale,
    }
}

/// `+4.1 ±0.6 µs`
fn spread(scale: &Scale, difference: DifferenceSoFar) -> String {
    let DifferenceSoFar { ns, half_width_ns } = difference;
    let interval = half_width_ns.map(|half| [ns - half, ns + half]);
    format!("{} {}", scale.spread(ns, interval), scale.unit())
}

/// `  machine: paused 0.3 ms/s, other programs 0.4 % of the CPUs, 0.0 % stolen`
fn machine(of: &MachineSoFar) -> Option<String> {
    let paused = of.paused_ms_per_second.map(|ms| format!("paused {ms:.1} ms/s"));
    let share = |share: f64| figures::unsigned_percent(share);
    let foreign = of.foreign.map(|taken| format!("other programs {} of the CPUs", share(taken)));
    let stolen = of.stolen.map(|taken| format!("{} stolen", share(taken)));
    let known: Vec<String> = [paused, foreign, stolen].into_iter().flatten().collect();
    (!known.is_empty()).then(|| format!("  machine: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(label: &str, p50_ns: Option<f64>, difference: Option<(f64, Option<f64>)>) -> CellSoFar {
        CellSoFar {
            label: label.to_owned(),
            load: "2000/s Poisson".to_owned(),
            p50_ns,
            difference: difference.map(|(ns, half_width_ns)| DifferenceSoFar { ns, half_width_ns }),
        }
    }

    #[test]
    fn what_is_known_is_shown_and_nothing_else() {
        let host = || cell("host", Some(80_600.0), None);
        let mut run = SoFar { cells: vec![cell("host", None, None)], machine: MachineSoFar::default() };
        assert!(so_far(&run, 80, 8).is_empty());
        run.cells = vec![host(), cell("pod", Some(84_900.0), Some((4_300.0, None)))];
        insta::assert_snapshot!("before_there_is_an_interval", so_far(&run, 80, 8).join("\n"));
        let machine =
            MachineSoFar { paused_ms_per_second: Some(0.34), foreign: Some(0.004), stolen: Some(0.0) };
        let pods = ["pod", "static pod", "other node"];
        let pods = pods.map(|label| cell(label, Some(84_900.0), Some((4_300.0, Some(620.0)))));
        let run = SoFar { cells: [vec![host()], pods.into()].concat(), machine };
        insta::assert_snapshot!("with_intervals_and_more_cells_than_lines", so_far(&run, 80, 3).join("\n"));
    }
}
