//! Differences drawn: each with its interval, against zero and the margin, as shares of the baseline, which is the one scale that times,
//! counts and sizes have in common.

use loadline_model::result::{ConditionResult, Contrast, Row, RunResult};
use maud::{Markup, html};

use super::answers::sign;
use super::axis::Axis;
use super::tables::figure;
use super::{class, shown};
use crate::checks;
use crate::figures;
use crate::groups::{self, HEADLINE};
use crate::overview;
use crate::shown::{RestsOn, Shown};
use crate::verdict;

/// The widest interval is cut off where it would leave less than this share of the drawing to the interval that answers the question.
const LEAST_SHARE: f64 = 0.06;
/// Pixels of a row.
const HEIGHT: u32 = 26;

/// A row of a drawing.
struct Drawn<'a> {
    name: String,
    row: &'a Row,
    /// The share.
    figure: Shown,
    interval: [f64; 2],
    difference: f64,
    margin: f64,
    /// Beyond which conditions fail the run.
    amounts: Vec<f64>,
}

impl<'a> Drawn<'a> {
    /// None of what has no share: nothing can be claimed, or the baseline is zero.
    fn of(result: &RunResult, contrast: &Contrast, name: String, row: &'a Row) -> Option<Drawn<'a>> {
        let share = |value: f64| value / row.baseline;
        let interval = row.interval?.map(share);
        let of_row = |condition: &&ConditionResult| condition.metric == row.metric && condition.by > 0.0;
        let amount = |condition: &ConditionResult| {
            let by = if condition.is_share { condition.by } else { share(condition.by) };
            if checks::is_of_less(condition) { -by } else { by }
        };
        let drawn = Drawn {
            name,
            row,
            figure: Shown::plain(row.relative.map(figures::percent).unwrap_or_default())
                .on(RestsOn::row(result, contrast, row)),
            interval,
            difference: share(row.difference),
            margin: share(row.margin),
            amounts: result.conditions.iter().filter(of_row).map(amount).collect(),
        };
        interval.into_iter().chain([drawn.difference, drawn.margin]).all(f64::is_finite).then_some(drawn)
    }

    fn reach(&self) -> impl Iterator<Item = f64> {
        self.interval.into_iter().chain([self.difference, self.margin, -self.margin])
    }

    /// Those that the axis holds: at its end one would seem to be nearer than it is.
    fn shown_amounts(&self, axis: &Axis) -> impl Iterator<Item = f64> {
        self.amounts.iter().copied().filter(move |amount| axis.is_beyond(*amount) == [false; 2])
    }
}

/// The drawings of all that was compared; of many comparisons one of their medians.
pub(super) fn section(result: &RunResult) -> Markup {
    if overview::is_needed(result) {
        let rows: Vec<Drawn<'_>> = result
            .contrasts
            .iter()
            .filter_map(|contrast| {
                let row = groups::row_of(contrast, HEADLINE)?;
                let (baseline, candidate) =
                    (result.cell(contrast.baseline)?, result.cell(contrast.candidate)?);
                Drawn::of(result, contrast, groups::contrast_name(result, candidate, baseline), row)
            })
            .collect();
        return drawing(result, "Difference at the median", &rows);
    }
    html! {
        @for contrast in &result.contrasts { (of_contrast(result, contrast)) }
    }
}

fn of_contrast(result: &RunResult, contrast: &Contrast) -> Markup {
    let (Some(baseline), Some(candidate)) = (result.cell(contrast.baseline), result.cell(contrast.candidate))
    else {
        return html! {};
    };
    let primary = contrast.rows.iter().filter(|row| row.primary);
    let rows: Vec<Drawn<'_>> =
        primary.filter_map(|row| Drawn::of(result, contrast, row.label.trim().to_owned(), row)).collect();
    let title = format!(
        "Difference, {} − {}",
        groups::cell_name(result, candidate),
        groups::cell_name(result, baseline)
    );
    drawing(result, &title, &rows)
}

fn drawing(result: &RunResult, title: &str, rows: &[Drawn<'_>]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    let axis = axis_of(rows);
    let cut = rows.iter().any(|drawn| drawn.interval.iter().any(|end| axis.is_beyond(*end) != [false; 2]));
    html! {
        section.drawing {
            h2 { (shown(title)) }
            p.caption {
                "share of the baseline, with its " (figures::interval_name(result)) "; grey band: margin"
                @if cut { "; arrow: the interval goes on" }
                @if rows.iter().any(|drawn| drawn.shown_amounts(&axis).next().is_some()) { "; dashed line: a condition fails the run beyond it" }
            }
            table.drawn {
                thead.hidden {
                    tr { th scope="col" { "metric" } td {} th scope="col" { "difference" } th scope="col" { "verdict" } }
                }
                tbody {
                    @for drawn in rows {
                        tr {
                            th scope="row" { (shown(&drawn.name)) }
                            td.strip { (strip(&axis, drawn)) }
                            td.number { (figure(&drawn.figure)) }
                            td { (word(drawn.row)) }
                        }
                    }
                }
                tfoot aria-hidden="true" { tr { td {} td.strip { (scale(&axis, &|value| figures::percent(value))) } td {} td {} } }
            }
        }
    }
}

/// An axis that holds all rows, unless one of them is so wide that the first could not be read.
fn axis_of(rows: &[Drawn<'_>]) -> Axis {
    let most =
        rows.first().map_or(0.0, |first| first.reach().map(f64::abs).fold(0.0, f64::max)) / LEAST_SHARE;
    let within = |value: f64| if most > 0.0 { value.clamp(-most, most) } else { value };
    let amounts = rows.iter().flat_map(|drawn| drawn.amounts.iter().copied());
    let amounts = amounts.filter(|amount| amount.abs() <= most);
    Axis::of(rows.iter().flat_map(Drawn::reach).map(within).chain(amounts))
}

fn word(row: &Row) -> Markup {
    let tone = verdict::tone_of(row);
    html! {
        (sign(row.verdict, tone))
        span.(class(tone)) { (verdict::shown(row)) }
    }
}

/// The interval of a row, and the difference in it: filled where it is claimed.
fn strip(axis: &Axis, drawn: &Drawn<'_>) -> Markup {
    let tone = verdict::tone_of(drawn.row);
    let [low, high] = drawn.interval;
    let (middle, bottom) = (HEIGHT / 2, HEIGHT);
    html! {
        svg width="100%" height=(HEIGHT) aria-hidden="true" {
            rect.margin x=(axis.place(-drawn.margin)) y="0" width=(axis.distance(-drawn.margin, drawn.margin)) height=(bottom) {}
            (grid(axis, bottom))
            @for amount in drawn.shown_amounts(axis) { line.amount x1=(axis.place(amount)) x2=(axis.place(amount)) y1="0" y2=(bottom) {} }
            line.interval.(class(tone)) x1=(axis.place(low)) x2=(axis.place(high)) y1=(middle) y2=(middle) {}
            @if axis.is_beyond(low)[0] { svg.beyond x="0%" { path.mark.(class(tone)) d=(format!("M7 {}L0 {middle}L7 {}", middle - 4, middle + 4)) {} } }
            @if axis.is_beyond(high)[1] { svg.beyond x="100%" { path.mark.(class(tone)) d=(format!("M-7 {}L0 {middle}L-7 {}", middle - 4, middle + 4)) {} } }
            circle.mark.(class(tone)) cx=(axis.place(drawn.difference)) cy=(middle) r="4.5" {}
        }
    }
}

/// The lines of the ticks, and zero.
pub(super) fn grid(axis: &Axis, height: u32) -> Markup {
    html! {
        @for tick in axis.ticks() {
            line.(if tick == 0.0 { "zero" } else { "tick" }) x1=(axis.place(tick)) x2=(axis.place(tick)) y1="0" y2=(height) {}
        }
    }
}

/// The figures below the ticks.
pub(super) fn scale(axis: &Axis, words: &dyn Fn(f64) -> String) -> Markup {
    html! {
        svg width="100%" height="18" {
            @for tick in axis.ticks() {
                text x=(axis.place(tick)) y="13" text-anchor="middle" { (words(tick)) }
            }
        }
    }
}
