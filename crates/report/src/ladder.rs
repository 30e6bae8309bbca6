//! A ladder as a table: the bottom, what each layer adds to the rung below, and whether the sum closes.

use loadline_model::CellId;
use loadline_model::result::{Estimate, Ladder, LadderSum, Row, RunResult, Unit, Verdict};

use crate::figures::{self, Scale};
use crate::groups;
use crate::shown::{RestsOn, Shown};
use crate::verdict::{Tone, bracketed, sign, tone_of};

/// What a layer adds to the median, and to the CPU time of both ends.
pub(crate) const MEDIAN: &str = "response.p50.paired";
pub(crate) const CPU: &str = "cpu.path";
/// The question that a ladder answers, unless its author has another one.
pub(crate) const QUESTION: &str = "What does each layer cost?";

/// The metrics that have a column, and its heading.
const COLUMNS: [(&str, &str); 5] = [
    (MEDIAN, "p50"),
    ("response.p99.paired", "p99"),
    (CPU, "CPU per request"),
    ("softirqs", "softirqs"),
    ("switches", "context switches"),
];

/// What the signs in the table mean.
pub(crate) fn legend(result: &RunResult) -> String {
    let untrusted = if result.trust.trusted { "" } else { " In parentheses: not to be trusted." };
    format!(
        "± the longer arm of the {}. ▲ more, ▼ less, = within the margin, ? not resolved.{untrusted} p50, p99 and CPU per request are those of a slice, \
        compared with the rung below slice by slice: the interquartile mean of the differences. CPU per request is that of client and service together, because the \
        kernel does most of a packet's path on the CPU that sends it.",
        figures::interval_name(result)
    )
}

/// The table of a ladder: headings, and rows whose first cell is a name.
pub(crate) struct Grid {
    pub headings: Vec<&'static str>,
    pub rows: Vec<Vec<Shown>>,
}

/// The table of a ladder.
pub(crate) fn grid(result: &RunResult, ladder: &Ladder) -> Grid {
    let columns: Vec<Column> =
        COLUMNS.iter().filter_map(|(metric, _)| Column::new(result, ladder, metric)).collect();
    let heading =
        |column: &Column| COLUMNS.iter().find(|(metric, _)| *metric == column.metric).map(|found| found.1);
    let headings = std::iter::once("").chain(columns.iter().filter_map(heading)).collect();
    let row = |name: String, cell: &dyn Fn(&Column) -> Shown| {
        std::iter::once(Shown::plain(name)).chain(columns.iter().map(cell)).collect::<Vec<Shown>>()
    };
    let mut rows = vec![row(label(result, ladder.bottom), &|column| column.bottom.clone())];
    let mut previous = ladder.bottom;
    for rung in &ladder.rungs {
        let name = label(result, rung.cell);
        let name = if rung.below == previous {
            format!("+ {name}")
        } else {
            format!("+ {name}, above {}", label(result, rung.below))
        };
        previous = rung.cell;
        rows.push(row(name, &|column| column.cost(result, rung.contrast)));
    }
    for sum in &ladder.sums {
        let top = label(result, sum.top);
        let trusted = is_trusted(result, ladder, sum);
        let part = |of: &'static str| move |column: &Column| column.part(sum, of, trusted);
        rows.push(row(format!("sum up to {top}"), &part("sum")));
        if sum.rows.iter().any(|row| row.end_to_end.is_some()) {
            rows.push(row("  end to end, deployed anew".to_owned(), &part("end to end")));
            rows.push(row("  residual".to_owned(), &part("residual")));
        }
    }
    Grid { headings, rows }
}

/// Whether all that is added up can be trusted.
fn is_trusted(result: &RunResult, ladder: &Ladder, sum: &LadderSum) -> bool {
    let cells = [ladder.bottom, sum.top].into_iter().chain(sum.path.iter().copied());
    result.trust.trusts(cells)
}

/// What the whole costs and which layer most of it, in a sentence per top.
pub(crate) fn answers(result: &RunResult, ladder: &Ladder) -> Vec<String> {
    ladder.sums.iter().filter_map(|sum| answer(result, ladder, sum)).collect()
}

fn answer(result: &RunResult, ladder: &Ladder, sum: &LadderSum) -> Option<String> {
    let column = Column::new(result, ladder, MEDIAN)?;
    let whole = sum.rows.iter().find(|row| row.metric == MEDIAN)?;
    let costs = sum.path.iter().filter_map(|cell| {
        let rung = ladder.rungs.iter().find(|rung| rung.cell == *cell)?;
        let row = groups::row_of(result.contrasts.get(rung.contrast)?, MEDIAN)?;
        (row.trusted && row.verdict == Verdict::Slower).then(|| (label(result, *cell), row.difference))
    });
    let mut costs: Vec<(String, f64)> = costs.collect();
    costs.sort_by(|left, right| right.1.total_cmp(&left.1));
    let most: Vec<String> = costs
        .iter()
        .take(3)
        .map(|(name, cost)| format!("{name} {}", column.scale.difference(*cost)))
        .collect();
    let interval =
        whole.sum.interval.map(|ends| format!(" {}", column.scale.bare_interval(ends))).unwrap_or_default();
    let of_it = if most.is_empty() { String::new() } else { format!("; most of it: {}", most.join(", ")) };
    let top = label(result, sum.top);
    let untrusted = if is_trusted(result, ladder, sum) { "" } else { ", not to be trusted" };
    let whole = column.scale.difference(whole.sum.value);
    Some(format!("{top}: {whole} at the median{interval}{untrusted}{of_it}."))
}

/// The layers of a path one behind the other, and their sum held against the whole.
pub(crate) struct Path {
    /// From where to where, and in what.
    pub title: String,
    /// Unit and precision of all steps.
    pub scale: Scale,
    pub steps: Vec<Step>,
}

/// A part of a path: where it begins and ends, in the metric's unit above the bottom.
pub(crate) struct Step {
    pub kind: StepKind,
    pub name: String,
    pub from: f64,
    pub to: f64,
    pub interval: Option<[f64; 2]>,
    pub cost: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    Layer,
    Sum,
    /// The same difference, measured with second deployments.
    Whole,
    Residual,
}

/// The steps to a top; `None` where the metric was not measured.
pub(crate) fn path(result: &RunResult, ladder: &Ladder, sum: &LadderSum, metric: &str) -> Option<Path> {
    let column = Column::new(result, ladder, metric)?;
    let total = sum.rows.iter().find(|row| row.metric == metric)?;
    let mut steps = Vec::new();
    let mut from = 0.0;
    for cell in &sum.path {
        let Some(rung) = ladder.rungs.iter().find(|rung| rung.cell == *cell) else { continue };
        let row = groups::row_of(result.contrasts.get(rung.contrast)?, metric)?;
        steps.push(Step {
            kind: StepKind::Layer,
            name: format!("+ {}", label(result, *cell)),
            from,
            to: from + row.difference,
            interval: row.interval.map(|ends| ends.map(|end| from + end)),
            cost: column.cost(result, rung.contrast),
        });
        from += row.difference;
    }
    let parts = [
        (StepKind::Sum, "sum", Some(total.sum)),
        (StepKind::Whole, "end to end", total.end_to_end),
        (StepKind::Residual, "residual", total.residual),
    ];
    let trusted = is_trusted(result, ladder, sum);
    for (kind, name, estimate) in parts {
        let Some(estimate) = estimate else { continue };
        steps.push(Step {
            kind,
            name: name.to_owned(),
            from: 0.0,
            to: estimate.value,
            interval: estimate.interval,
            cost: column.part(sum, name, trusted),
        });
    }
    let heading = COLUMNS.iter().find(|(id, _)| *id == column.metric)?.1;
    let bottom = groups::cell_name(result, result.cell(ladder.bottom)?);
    let title = format!("{bottom} to {}, {heading}", label(result, sum.top));
    Some(Path { title, scale: column.scale, steps })
}

/// `Resolution of each layer, costs that a run like this finds 19 times in 20: p50 0.9 µs or better, equivalent up to ±2 µs; …`
pub(crate) fn resolution(result: &RunResult, ladder: &Ladder) -> Option<String> {
    let sizes: Vec<String> = COLUMNS
        .iter()
        .filter(|(metric, _)| matches!(*metric, MEDIAN | CPU))
        .filter_map(|(metric, heading)| {
            let rows = rows(result, ladder, metric);
            let largest = rows.iter().filter_map(|row| row.resolution).max_by(f64::total_cmp)?;
            let margin = rows.iter().map(|row| row.margin).max_by(f64::total_cmp)?;
            let scale = groups::scale_of(rows)?;
            let [largest, margin] = [largest, margin].map(|size| scale.uncertainty(size));
            Some(format!("{heading} {largest} or better, equivalent up to ±{margin}"))
        })
        .collect();
    (!sizes.is_empty()).then(|| {
        format!(
            "Resolution of each layer, costs that a run like this finds 19 times in 20: {}.",
            sizes.join("; ")
        )
    })
}

fn rows<'a>(result: &'a RunResult, ladder: &Ladder, metric: &str) -> Vec<&'a Row> {
    let contrasts = ladder.rungs.iter().filter_map(|rung| result.contrasts.get(rung.contrast));
    contrasts.filter_map(|contrast| groups::row_of(contrast, metric)).collect()
}

fn label(result: &RunResult, cell: CellId) -> String {
    result.cell(cell).map(|cell| cell.label.clone()).unwrap_or_default()
}

/// A metric's unit and precision over the whole ladder.
struct Column {
    metric: &'static str,
    scale: Scale,
    bottom: Shown,
}

impl Column {
    fn new(result: &RunResult, ladder: &Ladder, metric: &str) -> Option<Column> {
        let metric = COLUMNS.iter().find(|(id, _)| *id == metric)?.0;
        let cell = result.cell(ladder.bottom)?;
        let figure = cell.figures.iter().find(|figure| figure.metric == metric)?;
        let bottom = figure.value;
        let rows = rows(result, ladder, metric);
        let unit: Unit = rows.first()?.unit;
        let widths = rows.iter().filter_map(|row| row.interval).map(|[low, high]| (high - low) / 2.0);
        let narrowest = widths.filter(|width| *width > 0.0).min_by(f64::total_cmp).unwrap_or(0.0);
        let scale = Scale::of(unit, &[bottom]).with_uncertainty(narrowest.max(bottom * 1e-3));
        let bottom = Shown::plain(scale.figure(bottom)).on(RestsOn::figure(cell, figure));
        Some(Column { metric, scale, bottom })
    }

    /// What a layer adds, and the verdict on it.
    fn cost(&self, result: &RunResult, contrast: usize) -> Shown {
        let row = result.contrasts.get(contrast).and_then(|contrast| groups::row_of(contrast, self.metric));
        let Some(row) = row else { return Shown::default() };
        let sign = bracketed(sign(row.verdict), row.trusted);
        let text = format!("{} {sign}", self.scale.spread(row.difference, row.interval));
        let rests_on = RestsOn::Contrast(contrast, row.metric.clone());
        Shown { text, tone: tone_of(row), rests_on: Some(rests_on) }
    }

    fn part(&self, sum: &LadderSum, part: &str, trusted: bool) -> Shown {
        let row = sum.rows.iter().find(|row| row.metric == self.metric);
        let shown = |estimate: Estimate| self.scale.spread(estimate.value, estimate.interval);
        let (text, tone) = match (row, part) {
            (Some(row), "sum") => (shown(row.sum), Tone::Plain),
            (Some(row), "end to end") => (row.end_to_end.map(shown).unwrap_or_default(), Tone::Plain),
            (Some(row), _) => {
                let text = row.residual.map(shown).unwrap_or_default();
                let judged = |word, tone| {
                    (format!("{text} {}", bracketed(word, trusted)), if trusted { tone } else { Tone::Plain })
                };
                match row.closes {
                    Some(true) => judged("closes", Tone::Good),
                    Some(false) => judged("open", Tone::Bad),
                    None if row.residual.is_some() => (format!("{text} ?"), Tone::Plain),
                    None => (text, Tone::Plain),
                }
            }
            (None, _) => (String::new(), Tone::Plain),
        };
        Shown { text, tone, rests_on: None }
    }
}
