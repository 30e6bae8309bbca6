//! The result as Markdown, for an issue or a pull request. It shows every figure with its interval, and at the end what
//! somebody else needs to repeat the run.

use loadline_model::printable;
use loadline_model::result::{Capacities, Cell, Contrast, Ladder, RunResult};

use crate::answer::{self, answer};
use crate::capacity;
use crate::checks::{Check, checks};
use crate::claims;
use crate::distrust;
use crate::failed_requests;
use crate::figures;
use crate::groups;
use crate::ladder;
use crate::overview::{self, Grid};
use crate::own_figures;
use crate::runtimes;
use crate::scalability;
use crate::seen;
use crate::shown::texts;
use crate::spread;
use crate::starts;
use crate::sweeps::{self, SweptTable};
use crate::tails;
use crate::throttling;
use crate::time_spent::time_spent;
use crate::words::said;
use crate::{verdict, wording};

/// The result as Markdown (GitHub flavour), ending with a line break.
pub fn markdown(result: &RunResult) -> String {
    let mut text = format!("## {}\n", escape(&result.run.name));
    let mut section = |lines: Vec<String>| {
        if !lines.is_empty() {
            text.push('\n');
            text.extend(lines.into_iter().map(|line| line + "\n"));
        }
    };
    let first = wording::missing(result).into_iter().chain(wording::reservations(result));
    section(first.map(|sentence| format!("> **{}**", escape(&sentence))).collect());
    section(
        distrust::sentences(result).iter().map(|sentence| format!("> **{}**", escape(sentence))).collect(),
    );
    section(vec![escape(&wording::title(result).join(" · "))]);
    section(wording::state(result).map(|state| format!("**{}**", escape(&state))).into_iter().collect());
    for failure in &result.run.failures {
        section(vec![format!("```text\n{}\n```", printable(failure).replace("```", "'''"))]);
    }
    let known = failed_requests::sentence(result).into_iter().chain(throttling::sentence(result));
    section(known.map(|sentence| format!("> {}", escape(&sentence))).collect());
    section(wording::twins_differ(result).iter().map(|sentence| format!("> {}", escape(sentence))).collect());
    section(checks(result).iter().flat_map(checked).collect());
    if let Some(found) = &result.capacities {
        section(carried(result, found));
        section(claimed(result));
    } else if overview::is_needed(result) {
        section(claimed(result));
        section(summary(result));
        overview::grids(result).iter().for_each(|grid| section(glance(grid)));
        section(vec![overview::legend(result)]);
        section(swept(result));
    } else {
        if result.ladders.is_empty() {
            section(answers(result));
            section(claimed(result));
            section(swept(result));
            section(own(result));
        }
    }
    for ladder in &result.ladders {
        section(rungs(result, ladder));
        let contrasts = ladder.rungs.iter().filter_map(|rung| result.contrasts.get(rung.contrast));
        section(
            result
                .cell(ladder.bottom)
                .map(|bottom| seen_lines(result, bottom, contrasts))
                .unwrap_or_default(),
        );
    }
    if !result.ladders.is_empty() {
        section(claimed(result));
    }
    for group in groups::groups(result) {
        if result.ladders.is_empty() {
            section(seen_lines(
                result,
                group.baseline,
                group.contrasts.iter().map(|(_, contrast)| *contrast),
            ));
        }
        for (candidate, contrast) in &group.contrasts {
            section(table(result, group.baseline, candidate, contrast));
            let notes = wording::row_notes([*contrast]);
            section(notes.iter().map(|note| format!("- {}", escape(note))).collect());
        }
    }
    if !result.slices.is_empty() {
        section(worth(result));
    }
    section(scalability::sentences(result).iter().map(|line| format!("- {}", escape(line))).collect());
    let tails = tails::lines(result);
    if !tails.is_empty() {
        section(vec![tails::HEADING.to_owned()]);
        section(tails.iter().map(|line| format!("- {}", escape(line))).collect());
    }
    section(started(result));
    section(runtimes::lines(result).iter().map(|line| format!("- {}", escape(line))).collect());
    section(wording::surroundings(result).iter().map(|line| format!("- {}", escape(line))).collect());
    section(result.notes.iter().map(|note| format!("- {}", escape(&said(note)))).collect());
    section(repeat(result));
    text
}

/// What the run was to pass.
fn checked(check: &Check) -> Vec<String> {
    let details = check.details().iter().map(|sentence| format!("  - {}", escape(sentence)));
    let first = format!("- **{}**: {}", check.outcome.word(), escape(&check.about()));
    [first].into_iter().chain(details).collect()
}

/// The most that each cell carries.
fn carried(result: &RunResult, found: &Capacities) -> Vec<String> {
    let question = result.run.question.as_deref().unwrap_or(capacity::QUESTION);
    let first = format!("**{}** {}", escape(question), escape(&capacity::objectives(found)));
    let differences = capacity::differences(result, found).into_iter().map(|difference| difference.line);
    let sentences =
        differences.chain(capacity::findings(result, found)).chain(capacity::besides(result, found));
    let mut lines = vec![first, String::new()];
    lines.extend(grid(capacity::table(result, found)));
    lines.push(String::new());
    lines.extend(sentences.map(|sentence| format!("- {}", escape(&sentence))));
    for (title, table) in capacity::compared(result, found) {
        lines.extend([String::new(), title, String::new()]);
        lines.extend(grid(table));
    }
    for (capacity, cell) in found.cells.iter().map(|capacity| (capacity, &result.cells[capacity.cell])) {
        lines.extend([
            String::new(),
            format!("Tried of {}:", escape(&groups::cell_name(result, cell))),
            String::new(),
        ]);
        lines.extend(grid(capacity::curve(capacity)));
    }
    lines
}

/// A table, its first column on the left.
fn grid((headings, rows): capacity::Grid) -> Vec<String> {
    let line = |cells: &[String]| {
        format!("| {} |", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "))
    };
    let rule = headings.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "--:" });
    let rule = format!("| {} |", rule.collect::<Vec<_>>().join(" | "));
    [line(&headings), rule].into_iter().chain(texts(&rows).iter().map(|row| line(row))).collect()
}

fn answers(result: &RunResult) -> Vec<String> {
    let Some(answer) = answer(result) else { return Vec::new() };
    let question = escape(&answer.question);
    match &answer.lines[..] {
        [line] => vec![format!("**{question}** {}{}", line.lead, line.rest)],
        lines => {
            let common = answer.common.map(|common| format!(" ({common})")).unwrap_or_default();
            let mut text = vec![format!("**{question}**{common}"), String::new()];
            text.extend(lines.iter().map(|line| {
                let about = line.about.as_deref().unwrap_or_default();
                format!("- {}: **{}**{}", escape(about), line.lead, line.rest)
            }));
            text
        }
    }
}

/// The question, and how the comparisons ended.
fn summary(result: &RunResult) -> Vec<String> {
    let question = answer::question(result).map(|question| format!("**{}**", escape(&question)));
    question.into_iter().chain(overview::summary(result).map(|summary| escape(&summary))).collect()
}

fn glance(grid: &Grid) -> Vec<String> {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![escape(&grid.title), String::new()];
    lines.push(line(grid.headings.iter().map(|heading| escape(heading)).collect()));
    lines.push(format!("|---|{}", "--:|".repeat(grid.headings.len() - 1)));
    lines.extend(texts(&grid.rows).iter().map(|row| line(row.iter().map(|text| escape(text)).collect())));
    lines
}

fn rungs(result: &RunResult, ladder: &Ladder) -> Vec<String> {
    let load = result.cell(ladder.bottom).map(groups::load_name).unwrap_or_default();
    let mut lines = vec![format!("### {} {}", ladder::QUESTION, escape(&load)), String::new()];
    lines.extend(ladder::answers(result, ladder).iter().map(|answer| format!("- {}", escape(answer))));
    let grid = ladder::grid(result, ladder);
    lines.extend([String::new(), format!("| {} |", grid.headings.join(" | "))]);
    lines.push(format!("|---|{}", "--:|".repeat(grid.headings.len() - 1)));
    for row in texts(&grid.rows) {
        let cells: Vec<String> = row.iter().map(|text| indented(text)).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    lines.extend([String::new(), ladder::legend(result)]);
    lines
}

fn seen_lines<'a>(
    result: &RunResult,
    bottom: &Cell,
    contrasts: impl IntoIterator<Item = &'a Contrast>,
) -> Vec<String> {
    let contrasts: Vec<&Contrast> = contrasts.into_iter().collect();
    let (headings, rows) = seen::table(result, bottom, contrasts.iter().copied());
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("{} {}", seen::HEADING, escape(&groups::load_name(bottom))), String::new()];
    lines.push(format!("| {} |", headings.join(" | ")));
    lines.push("|---|--:|--:|---|---|".to_owned());
    for row in rows {
        let cells: Vec<String> = row.iter().map(|text| escape(text)).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    let cells = std::iter::once(bottom)
        .chain(contrasts.iter().filter_map(|contrast| result.cell(contrast.candidate)));
    lines.extend(seen::softirqs(cells).map(|sentence| format!("\n{}", escape(&sentence))));
    lines
}

fn table(result: &RunResult, baseline: &Cell, candidate: &Cell, contrast: &Contrast) -> Vec<String> {
    let mut lines = Vec::new();
    let (base, other) = (escape(&baseline.label), escape(&candidate.label));
    if result.contrasts.len() > 1 {
        let load = escape(&groups::load_name(baseline));
        lines.extend([format!("### {other} against {base}, {load}"), String::new()]);
    }
    let interval = figures::interval_name(result);
    lines.push(format!("| | {base} | {other} | difference | | {interval} | p (Holm) | verdict |"));
    lines.push("|---|--:|--:|--:|--:|---|--:|---|".to_owned());
    let rows = contrast.rows.iter().map(|row| (row.label.clone(), row));
    for (label, row) in rows.chain(contrast.rows_by_request()) {
        let Some(scale) = groups::scale_of([row]) else { continue };
        let cells = [
            indented(&label),
            scale.figure(row.baseline),
            scale.figure(row.candidate),
            scale.difference(row.difference),
            row.relative.map(figures::percent).unwrap_or_default(),
            row.interval.map(|ends| scale.bare_interval(ends)).unwrap_or_default(),
            row.p_holm.map(figures::probability).unwrap_or_default(),
            verdict::shown_with_bound(row),
        ];
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    lines
}

fn claimed(result: &RunResult) -> Vec<String> {
    let mut lines = Vec::new();
    for claim in claims::lines(result) {
        lines.push(format!("- **{}**: “{}”", claim.word, escape(&claim.text)));
        lines.extend(claim.findings.iter().map(|finding| format!("  - {}", escape(&finding.to_string()))));
    }
    lines.extend(claims::legend(result).into_iter().flat_map(|legend| [String::new(), legend]));
    lines
}

fn started(result: &RunResult) -> Vec<String> {
    let (headings, rows) = starts::table(result);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![starts::HEADING.to_owned(), String::new()];
    lines.extend(figures_table(&headings, &rows));
    lines
}

/// The figures of cells that differ in one number.
fn swept(result: &RunResult) -> Vec<String> {
    let tables = sweeps::tables(result);
    if tables.is_empty() {
        return Vec::new();
    }
    let table = |table: &SweptTable| {
        let mut lines = vec![escape(&table.title), String::new()];
        lines.extend(figures_table(&table.headings, &texts(&table.rows)));
        lines.push(String::new());
        lines
    };
    tables.iter().flat_map(table).chain([sweeps::caption(result).to_owned()]).collect()
}

/// The figures of cells that are compared with nothing.
fn own(result: &RunResult) -> Vec<String> {
    let Some((headings, rows)) = own_figures::table(result) else { return Vec::new() };
    let mut lines = figures_table(&headings, &texts(&rows));
    lines.extend([String::new(), own_figures::HEADING.to_owned()]);
    lines
}

/// A table whose first column is text and whose others are figures.
fn figures_table(headings: &[String], rows: &[Vec<String>]) -> Vec<String> {
    let line = |cells: &[String]| {
        format!("| {} |", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|---|{}", "--:|".repeat(headings.len() - 1));
    [line(headings), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

fn worth(result: &RunResult) -> Vec<String> {
    let mut lines: Vec<String> =
        wording::resolution(result).iter().map(|line| format!("- {}", escape(line))).collect();
    let gates: Vec<String> = result
        .trust
        .gates
        .iter()
        .map(|gate| format!("{} {}", escape(&said(&gate.figure)), if gate.holds { "✓" } else { "✗" }))
        .collect();
    lines.push(format!("- Trust: {} ({})", gates.join(", "), wording::slices(result)));
    let repeats = wording::repeats(result).into_iter();
    let rest =
        repeats.chain(spread::sentence(result)).chain(wording::settle(result)).chain(time_spent(result));
    lines.extend(rest.map(|line| format!("- {}", escape(&line))));
    lines
}

/// What to know in order to do it again.
fn repeat(result: &RunResult) -> Vec<String> {
    let run = &result.run;
    // Only a NUL can't be quoted, and no command line holds one.
    let words = run.command_line.iter().map(String::as_str);
    let command = shlex::try_join(words).unwrap_or_default().replace("```", "'''");
    let command = printable(&command);
    let method = said(&result.plan.interval_method);
    let method = method.trim_end_matches('.');
    let made = format!("loadline {}, run {} of {}", escape(&run.version), run.id, escape(&run.started));
    vec![
        "<details><summary>To do it again</summary>".to_owned(),
        String::new(),
        format!("```sh\n{command}\n```"),
        String::new(),
        format!("{made}, seed {}. Intervals: {}.", run.seed, escape(method)),
        format!("Machine: {}.", escape(&wording::machine(&result.machine))),
        String::new(),
        "</details>".to_owned(),
    ]
}

/// A label whose leading spaces say that it is a part of the row above; Markdown drops plain ones.
fn indented(label: &str) -> String {
    let part = label.trim_start();
    let indent = if part.len() < label.len() { "&emsp;" } else { "" };
    format!("{indent}{}", escape(part))
}

/// Text that Markdown would read as markup, made plain.
pub(crate) fn escape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for next in printable(text).chars() {
        match next {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => plain.extend(['\\', next]),
            '\n' => plain.push(' '),
            _ => plain.push(next),
        }
    }
    plain
}
