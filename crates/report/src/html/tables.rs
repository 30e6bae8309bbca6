//! Tables that are made elsewhere, as HTML: each in a frame that scrolls sideways by itself where the page is narrow.

use loadline_model::CellId;
use loadline_model::result::{Capacities, RunResult};
use maud::{Markup, html};

use super::{class, shown};
use crate::capacity;
use crate::groups;
use crate::own_figures;
use crate::shown::{RestsOn, Shown};
use crate::sweeps::{self, SweptTable};

/// A table whose first column is a name and whose others are figures.
pub(super) fn plain(title: &str, headings: &[String], rows: &[Vec<String>]) -> Markup {
    let rows: Vec<Vec<Shown>> =
        rows.iter().map(|row| row.iter().map(|text| Shown::plain(text.as_str())).collect()).collect();
    figures(title, headings, &rows)
}

/// The same, with tones and with what each figure rests on.
pub(super) fn figures(title: &str, headings: &[String], rows: &[Vec<Shown>]) -> Markup {
    let caption = if title.is_empty() { "figures" } else { title };
    html! {
        (frame(caption, html! {
            table.figures {
                @if !title.is_empty() { caption { (shown(title)) } }
                thead {
                    tr {
                        @for heading in headings {
                            @if heading.is_empty() { td {} } @else { th scope="col" { (shown(heading)) } }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" .part[cell.text.starts_with("  ")] { (shown(cell.text.trim())) } }
                                @else { td { (figure(cell)) } }
                            }
                        }
                    }
                }
            }
        }))
    }
}

/// A figure in its tone, with what it rests on as data attributes, of which the app makes a button; trials are linked within the page.
pub(super) fn figure(figure: &Shown) -> Markup {
    let (text, class) = (shown(&figure.text), class(figure.tone));
    match &figure.rests_on {
        None => html! { span.(class) { (text) } },
        Some(RestsOn::Cell(cell, metric)) => {
            html! { span.(class) data-cell=(cell.0) data-metric=(shown(metric)) { (text) } }
        }
        Some(RestsOn::Contrast(at, metric)) => {
            html! { span.(class) data-contrast=(at) data-metric=(shown(metric)) { (text) } }
        }
        Some(RestsOn::Trials(cell)) => {
            html! { a.figure.(class) href=(format!("#{}", trials(*cell))) { (text) } }
        }
    }
}

/// The id of the rates that were tried in a cell.
fn trials(cell: CellId) -> String {
    format!("trials-{}", cell.0)
}

/// A frame that scrolls sideways, by keyboard, too.
pub(super) fn frame(name: &str, table: Markup) -> Markup {
    html! { div.scroll role="group" tabindex="0" aria-label=(shown(name)) { (table) } }
}

/// The figures of cells that differ in one number.
pub(super) fn swept(result: &RunResult) -> Markup {
    let tables = sweeps::tables(result);
    html! {
        @if !tables.is_empty() {
            section {
                h2 { "One number changed" }
                @for SweptTable { title, headings, rows } in &tables { (figures(title, headings, rows)) }
                p.caption { (shown(sweeps::caption(result))) }
            }
        }
    }
}

/// The figures of cells that are compared with nothing.
pub(super) fn own(result: &RunResult) -> Markup {
    html! {
        @if let Some((headings, rows)) = own_figures::table(result) {
            section {
                h2 { "All figures" }
                (figures("", &headings, &rows))
                p.caption { (shown(own_figures::HEADING)) }
            }
        }
    }
}

/// The most that services carry.
pub(super) fn capacities(result: &RunResult, found: &Capacities) -> Markup {
    let (headings, rows) = capacity::table(result, found);
    html! {
        section {
            h2 { "Capacities" }
            (figures("", &headings, &rows))
        }
        @for (title, (headings, rows)) in capacity::compared(result, found) {
            section { (figures(&title, &headings, &rows)) }
        }
        @for capacity in &found.cells {
            @let (headings, rows) = capacity::curve(capacity);
            details {
                summary {
                    "Every rate that was tried"
                    @if let Some(cell) = result.cell(capacity.cell) { ", " (shown(&groups::cell_name(result, cell))) }
                }
                div id=(trials(capacity.cell)) tabindex="-1" { (figures("", &headings, &rows)) }
            }
        }
    }
}
