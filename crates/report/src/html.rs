//! The result as one HTML file that needs no network. All that a reader must know is in it as text and drawings, made here; the app in
//! `ui/`, which is part of the file, adds what is looked into by hand, from the result that stands in the file as JSON.
//!
//! Every text is escaped where it is spliced (maud), and nothing but the app may run or be fetched (Content-Security-Policy).

mod answers;
mod app;
mod axis;
mod data;
mod difference;
mod figures_table;
mod heading;
mod origin;
mod tables;
mod waterfall;
mod worth;

use std::io::Write;

use loadline_model::profile::{CallTree, Profile};
use loadline_model::result::{Ladder, RunResult};
use loadline_model::rows::{ProfileRow, SliceRow, profiles_by_cell};
use loadline_model::{CellId, SparseHistogram, printable};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ReportError;
use crate::capacity;
use crate::claims::{self, FindingLine};
use crate::groups;
use crate::overview;
use crate::runtimes;
use crate::scalability;
use crate::seen;
use crate::spectrum;
use crate::tails;
use crate::verdict::Tone;
use crate::wording;
use crate::words::said;

/// What a result was made of and does not hold itself.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The profiles of cells that were profiled.
    pub profiles: Vec<CellProfile>,
    /// The response times of each slice, in the order of the result; empty where they are not at hand.
    pub response_times: Vec<SparseHistogram>,
}

/// Where the CPU time of a cell went.
#[derive(Debug)]
pub struct CellProfile {
    /// Which cell.
    pub cell: CellId,
    /// Requests while the profiler ran.
    pub requests: u64,
    /// Stacks with their CPU time.
    pub stacks: CallTree,
}

impl Evidence {
    /// Of the rows of a run.
    pub fn of(profiles: Vec<ProfileRow>, slices: Vec<SliceRow>) -> Evidence {
        let profile = |(cell, (profile, requests)): (CellId, (Profile, u64))| CellProfile {
            cell,
            requests,
            stacks: profile.stacks,
        };
        Evidence {
            profiles: profiles_by_cell(profiles).into_iter().map(profile).collect(),
            response_times: slices.into_iter().map(|slice| slice.response).collect(),
        }
    }
}

/// Where a page leads that is one of several.
#[derive(Clone, Debug)]
pub struct Link {
    /// What it says.
    pub label: String,
    /// Where to.
    pub address: String,
}

/// The result as an HTML document, with these links above it: none for a file of its own.
///
/// # Errors
/// When `out` does not take it.
pub fn html(
    result: &RunResult,
    evidence: &Evidence,
    links: &[Link],
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let data = data::document(result, evidence)?;
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(app::policy());
                title { (shown(&format!("loadline: {}", result.run.name))) }
                style { (PreEscaped(app::STYLE)) }
            }
            body {
                @if !links.is_empty() {
                    nav.links aria-label="pages" {
                        @for link in links { a href=(link.address) { (shown(&link.label)) } }
                    }
                }
                main { (page(result)) }
                (origin::footer(result))
                script type="application/json" #data { (PreEscaped(data)) }
                script { (PreEscaped(app::SCRIPT)) }
            }
        }
    };
    out.write_all(document.into_string().as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Text of others, with what would steer or reorder spelt out; to be spliced.
fn shown(text: &str) -> String {
    printable(text).into_owned()
}

/// What a reader sees without scripts, in the order in which it matters.
fn page(result: &RunResult) -> Markup {
    html! {
        (heading::heading(result))
        div.pair {
            (drawings(result))
            // The app fills what has an id and nothing in it.
            div #percentiles {}
        }
        @if let Some(found) = &result.capacities { (tables::capacities(result, found)) }
        div #capacity-curves {}
        @for ladder in &result.ladders { (layers(result, ladder)) }
        @if overview::is_needed(result) {
            section {
                h2 { "At a glance" }
                @for grid in overview::grids(result) { (tables::figures(&grid.title, &grid.headings, &grid.rows)) }
                p.caption { (shown(&overview::legend(result))) }
            }
        }
        (claimed(result))
        div #sweep {}
        div #cell-table {}
        div #slices {}
        div #probes {}
        div #heat-map {}
        (figures_table::section(result))
        (tables::swept(result))
        (tables::own(result))
        (observed(result))
        (quantiles(result))
        div #flame-graphs {}
        div #pictures {}
        (known(result))
    }
}

/// How much each differs, drawn: differences against zero and the margin, or the layers of each path.
fn drawings(result: &RunResult) -> Markup {
    if result.ladders.is_empty() {
        return difference::section(result);
    }
    html! {
        @for ladder in &result.ladders {
            @for sum in &ladder.sums { (waterfall::section(result, ladder, sum)) }
        }
    }
}

fn layers(result: &RunResult, ladder: &Ladder) -> Markup {
    let load = result.cell(ladder.bottom).map(groups::load_name).unwrap_or_default();
    let grid = crate::ladder::grid(result, ladder);
    let headings: Vec<String> = grid.headings.iter().map(|heading| (*heading).to_owned()).collect();
    html! {
        section {
            h2 { "All layers" }
            (tables::figures(&load, &headings, &grid.rows))
            p.caption { (shown(&crate::ladder::legend(result))) }
        }
    }
}

fn claimed(result: &RunResult) -> Markup {
    let lines = claims::lines(result);
    html! {
        @if !lines.is_empty() {
            section {
                h2 { "Claims" }
                ul.claims {
                    @for claim in &lines {
                        li {
                            p {
                                (judged(claim.tone, &claim.word))
                                " “" (shown(&claim.text)) "”"
                            }
                            ul { @for finding in &claim.findings { li { (found(finding)) } } }
                        }
                    }
                }
                @if let Some(legend) = claims::legend(result) { p.caption { (shown(&legend)) } }
            }
        }
    }
}

fn found(finding: &FindingLine) -> Markup {
    html! {
        (shown(&finding.before))
        @for (at, figure) in finding.figures.iter().enumerate() {
            @if at > 0 { ", " }
            (tables::figure(figure))
        }
        (shown(&finding.after))
    }
}

/// A word with the mark and colour of its tone; without either where it is not to be trusted.
fn judged(tone: Tone, word: &str) -> Markup {
    let mark = match tone {
        Tone::Good => "✓",
        Tone::Bad => "✗",
        Tone::Unsure => "?",
        Tone::Plain => return html! { span.verdict { (word) } },
    };
    html! { span.verdict.(class(tone)) { span aria-hidden="true" { (mark) " " } (word) } }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Good => "good",
        Tone::Unsure => "unsure",
        Tone::Bad => "bad",
    }
}

/// What else was seen: in the kernel, of the slowest requests, of the starts.
fn observed(result: &RunResult) -> Markup {
    let tails = tails::lines(result);
    let (headings, rows) = crate::starts::table(result);
    html! {
        @for (title, headings, rows) in seen(result) {
            section {
                h2 { "In the kernel" }
                (tables::plain(&title, &headings, &rows))
            }
        }
        @if !tails.is_empty() {
            section {
                h2 { "The slowest requests" }
                p.caption { (tails::HEADING) }
                ul { @for line in &tails { li { (shown(line)) } } }
            }
        }
        @if !rows.is_empty() {
            section {
                h2 { "Starts" }
                (tables::plain(crate::starts::HEADING, &headings, &rows))
            }
        }
    }
}

/// The tables of what was profiled, one for each ladder or baseline.
fn seen(result: &RunResult) -> Vec<(String, Vec<String>, Vec<Vec<String>>)> {
    let groups = groups::groups(result);
    let compared: Vec<_> = match result.ladders.is_empty() {
        true => groups
            .iter()
            .map(|group| {
                (group.baseline, group.contrasts.iter().map(|(_, contrast)| *contrast).collect::<Vec<_>>())
            })
            .collect(),
        false => result
            .ladders
            .iter()
            .filter_map(|ladder| {
                let contrasts = ladder.rungs.iter().filter_map(|rung| result.contrasts.get(rung.contrast));
                Some((result.cell(ladder.bottom)?, contrasts.collect()))
            })
            .collect(),
    };
    let table = |(bottom, contrasts): (_, Vec<_>)| {
        let (headings, rows) = seen::table(result, bottom, contrasts);
        let title = format!("{} {}", seen::HEADING, groups::load_name(bottom));
        (title, headings.into_iter().map(str::to_owned).collect(), rows)
    };
    compared.into_iter().map(table).filter(|(_, _, rows): &(_, _, Vec<_>)| !rows.is_empty()).collect()
}

/// The whole distributions as tables; the app draws them.
fn quantiles(result: &RunResult) -> Markup {
    let tables = spectrum::tables(result);
    html! {
        @if !tables.is_empty() {
            details {
                summary { "Response times by quantile" }
                p.caption { (spectrum::HEADING) }
                @for (headings, rows) in &tables { (tables::plain("", headings, rows)) }
            }
        }
    }
}

/// What a reader must know besides.
fn known(result: &RunResult) -> Markup {
    let sentences: Vec<String> = scalability::sentences(result)
        .into_iter()
        .chain(result.capacities.iter().flat_map(|found| capacity::besides(result, found)))
        .chain(runtimes::lines(result))
        .chain(wording::surroundings(result))
        .chain(result.notes.iter().map(|note| said(note).into_owned()))
        .collect();
    html! {
        @if !sentences.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for sentence in &sentences { li { (shown(sentence)) } } }
            }
        }
    }
}
