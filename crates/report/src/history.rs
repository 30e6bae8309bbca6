//! A metric over stored runs: a chart a series on a terminal, the same as CSV and JSON.

use std::io::Write;

use loadline_model::printable;
use loadline_model::result::history::{Change, History, Point, Series};

use crate::ReportError;
use crate::csv_text::csv_text;
use crate::figures::{self, Scale};
use crate::text::{Align, Table, wrap};
use crate::verdict::Tone;

/// Columns of the chart.
const CHART: usize = 41;

/// Each series with its points below each other, oldest first, and its changes between them. `local_time` words the time at which a run began.
pub fn history(history: &History, width: usize, colour: bool, local_time: impl Fn(&str) -> String) -> String {
    let mut text: String =
        history.series.iter().map(|of| series(of, history, width, colour, &local_time) + "\n").collect();
    if history.series.is_empty() {
        text.push_str(&format!("no run has {}\n", history.metric));
    }
    for left_out in &history.left_out {
        text.push_str(&wrap(
            "",
            &format!("Run {} is left out: {}.", left_out.run, left_out.reason),
            width,
            2,
        ));
    }
    text
}

fn series(
    of: &Series,
    History { metric, least_points, .. }: &History,
    width: usize,
    colour: bool,
    local_time: &impl Fn(&str) -> String,
) -> String {
    let title =
        format!("{metric} · {} · {} · {}", printable(&of.label), printable(&of.load), printable(&of.machine));
    let mut text = wrap("", &title, width, 2);
    let values: Vec<f64> = of.points.iter().map(|point| point.value).collect();
    let scale = Scale::of(of.unit, &values);
    let (least, most) = ends(&of.points);
    let columns = [("run", Align::Right), ("", Align::Left), ("", Align::Point), ("", Align::Left)];
    let mut table = Table::new(columns.map(|(heading, align)| (heading.to_owned(), align)).into());
    for point in &of.points {
        let chart = chart(point, least, most);
        table.push(vec![point.run.to_string(), local_time(&point.started), scale.figure(point.value), chart]);
    }
    let rendered = table.render(width);
    let mut lines: Vec<String> = rendered.lines().map(|line| line.trim_end().to_owned()).collect();
    // From the last, so that the places of those before it stay.
    let heading = lines.len() - of.points.len();
    for change in of.changes.iter().rev() {
        let tone = if change.settled { Tone::Bad } else { Tone::Unsure };
        lines.insert(heading + change.at, tone.paint(&format!("  ── {}", words(change, &scale)), colour));
    }
    text.extend(lines.into_iter().map(|line| line + "\n"));
    if of.points.iter().any(|point| point.untrusted) {
        text.push_str("  ○ cannot be trusted: gates failed\n");
    }
    if of.changes.is_empty() {
        text.push_str(&match of.points.len() < *least_points {
            true => format!("  fewer than {least_points} runs, in which no change could be seen\n"),
            false => "  no change\n".to_owned(),
        });
    }
    text
}

/// `+3.1 %: 80.1 µs before, 82.6 µs after (p = 0.001); not settled yet`
fn words(change: &Change, scale: &Scale) -> String {
    let relative = change.relative.map(figures::percent).unwrap_or_default();
    let p = figures::probability(change.p_value);
    let equals = if p.starts_with('<') { "" } else { "= " };
    let settled = if change.settled { "" } else { "; not settled yet" };
    format!(
        "{relative}: {} before, {} after (p {equals}{p}){settled}",
        scale.figure(change.before),
        scale.figure(change.after),
    )
}

/// The least and the most of all points and their intervals.
fn ends(points: &[Point]) -> (f64, f64) {
    let all = points.iter().flat_map(|point| {
        let [low, high] = point.interval.unwrap_or([point.value; 2]);
        [low, point.value, high]
    });
    all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
}

/// A point with its interval between the least and the most.
fn chart(point: &Point, least: f64, most: f64) -> String {
    let share = |value: f64| if most > least { (value - least) / (most - least) } else { 0.5 };
    let column = |value: f64| (share(value).clamp(0.0, 1.0) * (CHART - 1) as f64).round() as usize;
    let mut line = vec![' '; CHART];
    if let Some([low, high]) = point.interval {
        line[column(low)..=column(high)].fill('─');
    }
    line[column(point.value)] = if point.untrusted { '○' } else { '●' };
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// A row for each point.
///
/// # Errors
/// When `out` does not take it.
pub fn history_csv(history: &History, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "metric",
        "cell",
        "load",
        "machine",
        "run",
        "started",
        "value",
        "low",
        "high",
        "change",
        "untrusted",
    ])?;
    for series in &history.series {
        for (at, point) in series.points.iter().enumerate() {
            let end = |at: usize| point.interval.map(|ends| ends[at].to_string()).unwrap_or_default();
            let change = series.changes.iter().find(|change| change.at == at);
            csv.write_record([
                history.metric.clone(),
                csv_text(&series.label),
                csv_text(&series.load),
                csv_text(&series.machine),
                point.run.to_string(),
                point.started.clone(),
                point.value.to_string(),
                end(0),
                end(1),
                change.and_then(|change| change.relative).map(|share| share.to_string()).unwrap_or_default(),
                point.untrusted.to_string(),
            ])?;
        }
    }
    csv.flush()?;
    Ok(())
}

/// The JSON Schema of a [`History`].
pub fn history_schema() -> serde_json::Value {
    schemars::schema_for!(History).to_value()
}

/// The whole history, indented, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn history_json(history: &History, out: &mut dyn Write) -> Result<(), ReportError> {
    serde_json::to_writer_pretty(&mut *out, history)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}
