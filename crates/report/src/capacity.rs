//! The most that services carry, in tables and sentences.

use loadline_model::result::{
    Capacities, CapacityDifference, CellCapacity, Contrast, Row, RunResult, Unit, Verdict,
};
use loadline_model::rows::Purpose;

use crate::figures::{self, NO_FIGURE, Scale};
use crate::groups;
use crate::shown::{RestsOn, Shown};
use crate::verdict::{self, Tone, sign, tone};
use crate::words::said;

/// Headings, and the cells of each row.
pub(crate) type Grid = (Vec<String>, Vec<Vec<Shown>>);

/// The question that a search answers, unless its author has another one.
pub(crate) const QUESTION: &str = "How much does each carry?";

/// What a slice had to meet, and how long it was.
pub(crate) fn objectives(found: &Capacities) -> String {
    format!(
        "A slice passes if it meets all of: {}. The capacity is the rate at which half of the slices pass{}.",
        found.objectives.join(", "),
        lengths(found).map(|lengths| format!(", which last {lengths} there")).unwrap_or_default()
    )
}

fn lengths(found: &Capacities) -> Option<String> {
    let lengths = || found.cells.iter().filter_map(|cell| cell.slice_s);
    let [least, most] =
        [lengths().reduce(f64::min)?, lengths().reduce(f64::max)?].map(|s| figures::time(s * 1e9));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// A row for each cell.
pub(crate) fn table(result: &RunResult, found: &Capacities) -> Grid {
    let headings =
        ["", "capacity", "95 % interval", "passes", "fails", "answered", "for longer", "limited by"];
    let rates: Vec<f64> = found.cells.iter().filter_map(|cell| cell.rate_per_second).collect();
    let scale = Scale::of(Unit::PerSecond, &rates);
    let figure =
        |rate: Option<f64>| Shown::plain(rate.map_or(NO_FIGURE.to_owned(), |rate| scale.figure(rate)));
    let row = |capacity: &CellCapacity| {
        vec![
            Shown::plain(groups::cell_name(result, &result.cells[capacity.cell])),
            figure(capacity.rate_per_second).on(RestsOn::Trials(capacity.cell)),
            Shown::plain(capacity.interval.map(|ends| scale.range(ends)).unwrap_or_default()),
            figure(capacity.lower_bound),
            figure(capacity.upper_bound),
            figure(capacity.conditional_throughput),
            figure(capacity.for_longer),
            Shown::plain(capacity.limited_by.clone().unwrap_or_default()),
        ]
    };
    (headings.map(str::to_owned).into(), found.cells.iter().map(row).collect())
}

/// A comparison of two capacities, in a line.
pub(crate) struct Difference {
    /// The sign of its verdict.
    pub sign: &'static str,
    pub tone: Tone,
    /// `pod carries 12 % less than host, 95 % interval [−14 %, −10 %]`
    pub line: String,
}

/// All comparisons.
pub(crate) fn differences(result: &RunResult, found: &Capacities) -> Vec<Difference> {
    let line = |difference: &CapacityDifference| {
        let name = |cell| groups::cell_name(result, &result.cells[cell]);
        let (candidate, baseline) = (name(difference.candidate), name(difference.baseline));
        let interval = figures::percent_range(difference.interval);
        let text = match difference.verdict {
            Verdict::Unresolved => format!(
                "cannot tell whether {candidate} carries more or less than {baseline}: {}, {interval}",
                figures::percent(difference.relative)
            ),
            Verdict::Equivalent => {
                let margin = figures::unsigned_percent(difference.margin);
                format!("{candidate} carries as much as {baseline}, to ±{margin}: {interval}")
            }
            verdict => {
                let word = if verdict == Verdict::More { "more" } else { "less" };
                let share = figures::unsigned_percent(difference.relative.abs());
                format!("{candidate} carries {share} {word} than {baseline}, {interval}")
            }
        };
        let both = [difference.candidate, difference.baseline];
        let fails = found.cells.iter().any(|cell| both.contains(&cell.cell) && cell.fails_for_longer());
        let for_longer = if fails { ", which reaches to what they carry for longer" } else { "" };
        let untrusted = if difference.trusted { "" } else { "; not to be trusted" };
        Difference {
            sign: sign(difference.verdict),
            tone: if difference.trusted { tone(difference.verdict) } else { Tone::Plain },
            line: text + for_longer + untrusted,
        }
    };
    found.differences.iter().map(line).collect()
}

/// What is compared at one rate: throughput, success and latency, with their differences. The first of the pair says at which rate.
pub(crate) fn compared(result: &RunResult, found: &Capacities) -> Vec<(String, Grid)> {
    let points = found.cells.iter().flat_map(|capacity| &capacity.curve);
    let rates = points.filter(|point| point.purpose == Purpose::Common).map(|point| point.rate_per_second);
    let rates: Vec<f64> = rates.collect();
    let ends = rates.iter().copied().reduce(f64::min).zip(rates.iter().copied().reduce(f64::max));
    let same = ends.map(|(least, most)| match [figures::rate(least), figures::rate(most)] {
        [least, most] if least == most => format!("All at the same rate, {least}:"),
        [least, most] => format!("All at the same rate, {least} to {most} by deployment, request and load:"),
    });
    let tables = [
        (same.unwrap_or_default(), &found.at_the_same_rate),
        (
            "Each at its own capacity, the lower end of its interval or what passes for longer:".to_owned(),
            &found.at_their_own,
        ),
    ];
    let tables = tables.into_iter().map(|(title, contrasts)| (title, rows(result, contrasts)));
    tables.filter(|(_, (_, rows))| !rows.is_empty()).collect()
}

/// The metrics that a published comparison of capacities has.
const COMPARED: [&str; 5] = ["rate.achieved", "errors", "response.p50", "response.p99", "response.mean"];

fn rows(result: &RunResult, contrasts: &[Contrast]) -> Grid {
    let headings = ["", "baseline", "here", "change", "95 % interval", "verdict"];
    let mut lines = Vec::new();
    for contrast in contrasts {
        let name = groups::cell_name(result, &result.cells[contrast.candidate]);
        for row in contrast.rows.iter().filter(|row| COMPARED.contains(&row.metric.as_str())) {
            let Some(scale) = groups::scale_of([row]) else { continue };
            let label = row.label.trim();
            let [difference, interval] = change(row, &scale);
            lines.push(vec![
                Shown::plain(format!("{name}: {}", label.strip_prefix("response ").unwrap_or(label))),
                Shown::plain(scale.figure(row.baseline)).on(RestsOn::Trials(contrast.baseline)),
                Shown::plain(scale.figure(row.candidate)).on(RestsOn::Trials(contrast.candidate)),
                Shown::plain(difference),
                Shown::plain(interval),
                Shown::plain(verdict::shown_with_bound(row)),
            ]);
        }
    }
    (headings.map(str::to_owned).into(), lines)
}

/// The difference and its interval, as shares of the baseline unless that is zero.
fn change(row: &Row, scale: &Scale) -> [String; 2] {
    let Some(share) = row.relative else {
        let interval = row.interval.map(|ends| scale.bare_interval(ends));
        return [scale.difference(row.difference), interval.unwrap_or_default()];
    };
    let interval = row.interval.map(|ends| figures::percent_range(ends.map(|end| end / row.baseline)));
    [figures::percent(share), interval.unwrap_or_default()]
}

/// What the numbers alone do not say, with the cell that it is about.
pub(crate) fn findings(result: &RunResult, found: &Capacities) -> Vec<String> {
    let of_cell = |capacity: &CellCapacity| {
        let name = groups::cell_name(result, &result.cells[capacity.cell]);
        capacity.findings.iter().map(|finding| format!("{name}: {}", said(finding))).collect::<Vec<String>>()
    };
    found.cells.iter().flat_map(of_cell).collect()
}

/// What is known besides: where the curves have their knees, and what the generator could send.
pub(crate) fn besides(result: &RunResult, found: &Capacities) -> Vec<String> {
    let all = [not_compared(result, found), knees(result, found), generator(found)];
    all.into_iter().flatten().collect()
}

/// Why there is no table of what is compared, of cells that a run could have compared.
fn not_compared(result: &RunResult, found: &Capacities) -> Option<String> {
    let is_joined = result.cells.iter().any(|cell| cell.run.is_some());
    let has_table = !rows(result, &found.at_the_same_rate).1.is_empty();
    (!found.differences.is_empty() && !is_joined && !has_table).then(|| {
        "They were not measured at the same rate: the time was over before (--within), or each runs alone (isolation: exclusive).".to_owned()
    })
}

fn knees(result: &RunResult, found: &Capacities) -> Option<String> {
    let knee = |capacity: &CellCapacity| {
        let [below, above] = capacity.knee?.between.map(figures::rate);
        let name = groups::cell_name(result, &result.cells[capacity.cell]);
        Some(format!(
            "{name} {} (tried beside it: {below}, {above})",
            figures::rate(capacity.knee?.rate_per_second)
        ))
    };
    let knees: Vec<String> = found.cells.iter().filter_map(knee).collect();
    (!knees.is_empty())
        .then(|| format!("Knee, beyond which waiting grows faster than throughput: {}.", knees.join(", ")))
}

/// What the generator could send at most, by the CPU time that a request cost it.
fn generator(found: &Capacities) -> Option<String> {
    let least = found.cells.iter().filter_map(|cell| cell.generator_limit).reduce(f64::min)?;
    Some(format!(
        "The generator could send {} a thread, by the CPU time that requests cost it.",
        figures::rate(least)
    ))
}

/// Every rate that was tried in a cell.
pub(crate) fn curve(capacity: &CellCapacity) -> Grid {
    let headings = ["asked", "answered", "success", "p50", "p99", "passed", "for"];
    let rows = capacity.curve.iter().map(|point| {
        let texts = [
            figures::rate(point.rate_per_second),
            figures::rate(point.achieved_per_second),
            figures::unsigned_percent(point.success),
            figures::time(point.p50_ns as f64),
            figures::time(point.p99_ns as f64),
            format!("{} of {}", point.passed, point.passed + point.failed),
            serde_json::to_value(point.purpose)
                .ok()
                .and_then(|word| word.as_str().map(str::to_owned))
                .unwrap_or_default(),
        ];
        texts.map(Shown::plain).into()
    });
    (headings.map(str::to_owned).into(), rows.collect())
}
