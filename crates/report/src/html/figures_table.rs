//! Every figure of every comparison, with its interval, p-value and verdict. The app makes a button of each name, by the metric and the
//! contrast that its row carries.

use loadline_model::result::{Cell, Contrast, Row, RunResult};
use maud::{Markup, html};

use super::answers::sign;
use super::tables::frame;
use super::{class, shown};
use crate::figures;
use crate::groups;
use crate::verdict;
use crate::wording;

/// More comparisons than this are folded up.
const MOST_OPEN: usize = 3;

pub(super) fn section(result: &RunResult) -> Markup {
    let folded = result.contrasts.len() > MOST_OPEN;
    let tables = result.contrasts.iter().enumerate().filter_map(|(at, contrast)| {
        let (baseline, candidate) = (result.cell(contrast.baseline)?, result.cell(contrast.candidate)?);
        let title = match result.contrasts.len() {
            1 => "All figures".to_owned(),
            _ => format!("{} against {}, {}", candidate.label, baseline.label, groups::load_name(baseline)),
        };
        Some((title, table(result, at, contrast, baseline, candidate)))
    });
    html! {
        @for (title, table) in tables {
            @if folded {
                details.figures { summary { (shown(&title)) } (table) }
            } @else {
                section { h2 { (shown(&title)) } (table) }
            }
        }
    }
}

fn table(result: &RunResult, at: usize, contrast: &Contrast, baseline: &Cell, candidate: &Cell) -> Markup {
    let rows = contrast.rows.iter().map(|row| (row.label.clone(), None, row));
    let requests = contrast.by_request.iter().flat_map(|request| {
        request
            .rows
            .iter()
            .map(|row| (format!("{}: {}", request.request, row.label), Some(request.request.as_str()), row))
    });
    let notes = wording::row_notes([contrast]);
    let name = format!("{} against {}", candidate.label, baseline.label);
    html! {
        (frame(&name, html! {
            table.figures data-contrast=(at) {
                thead {
                    tr {
                        th scope="col" { "metric" }
                        th scope="col" { (shown(&baseline.label)) }
                        th scope="col" { (shown(&candidate.label)) }
                        th scope="col" { "difference" }
                        th scope="col" { span.hidden { "share" } }
                        th scope="col" { (figures::interval_name(result)) }
                        th scope="col" { "p (Holm)" }
                        th.word scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for (label, request, row) in rows.chain(requests) { (line(&label, request, row)) }
                }
            }
        }))
        @if !notes.is_empty() {
            ul.notes { @for note in &notes { li { (shown(note)) } } }
        }
    }
}

fn line(label: &str, request: Option<&str>, row: &Row) -> Markup {
    let Some(scale) = groups::scale_of([row]) else { return html! {} };
    let tone = verdict::tone_of(row);
    html! {
        tr data-metric=(shown(&row.metric)) data-request=[request.map(shown)] {
            th scope="row" .part[label.starts_with("  ")] { (shown(label.trim())) }
            td { (scale.figure(row.baseline)) }
            td { (scale.figure(row.candidate)) }
            td { (scale.difference(row.difference)) }
            td { (row.relative.map(figures::percent).unwrap_or_default()) }
            td { (row.interval.map(|ends| scale.bare_interval(ends)).unwrap_or_default()) }
            td { (row.p_holm.map(figures::probability).unwrap_or_default()) }
            td.word {
                (sign(row.verdict, tone))
                span.(class(tone)) { (verdict::shown_with_bound(row)) }
            }
        }
    }
}
