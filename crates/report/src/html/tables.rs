//! Tables that are made elsewhere, as HTML: each in a frame that scrolls sideways by itself where the page is narrow.

use loadline_model::result::{Capacities, RunResult};
use maud::{Markup, html};

use super::{class, shown};
use crate::capacity;
use crate::groups;
use crate::own_figures;
use crate::sweeps::{self, SweptTable};
use crate::verdict::Tone;

/// A table whose first column is a name and whose others are figures.
pub(super) fn plain(title: &str, headings: &[String], rows: &[Vec<String>]) -> Markup {
    let toned: Vec<Vec<(String, Tone)>> =
        rows.iter().map(|row| row.iter().map(|text| (text.clone(), Tone::Plain)).collect()).collect();
    self::toned(title, headings, &toned)
}

/// The same with the tone of each cell.
pub(super) fn toned(title: &str, headings: &[String], rows: &[Vec<(String, Tone)>]) -> Markup {
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
                            @for (at, (text, tone)) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" .part[text.starts_with("  ")] { (shown(text.trim())) } }
                                @else { td { span.(class(*tone)) { (shown(text)) } } }
                            }
                        }
                    }
                }
            }
        }))
    }
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
                @for SweptTable { title, headings, rows } in &tables { (plain(title, headings, rows)) }
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
                (plain("", &headings, &rows))
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
            (plain("", &headings, &rows))
        }
        @for (title, (headings, rows)) in capacity::compared(result, found) {
            section { (plain(&title, &headings, &rows)) }
        }
        @for capacity in &found.cells {
            @let (headings, rows) = capacity::curve(capacity);
            details {
                summary {
                    "Every rate that was tried"
                    @if let Some(cell) = result.cell(capacity.cell) { ", " (shown(&groups::cell_name(result, cell))) }
                }
                (plain("", &headings, &rows))
            }
        }
    }
}
