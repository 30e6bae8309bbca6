//! The result on a terminal: the answer first, then the figures it rests on, then what they are worth.
//! Colour marks verdicts and trust, nothing else.

use loadline_model::result::{Cell, Contrast, Figure, Row, RunResult};

use crate::answer::answer;
use crate::claims;
use crate::figures::{self, Scale};
use crate::groups::{self, Group};
use crate::ladder;
use crate::seen;
use crate::starts;
use crate::text::{Align, Table, flow, visible_width, wrap};
use crate::time_spent::time_spent;
use crate::verdict::{self, Tone};
use crate::wording;
use crate::words::said;

/// The narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 40;
/// The metrics that others publish with Student's t.
const PUBLISHED: [(&str, &str); 2] = [("response.mean", "mean"), ("response.p99", "p99")];

/// How to write on a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// Columns to fit into; 100 is what the layout is made for, a table that can't be narrower exceeds it.
    pub width: usize,
}

/// The result as text for a terminal, ending with a line break.
pub fn terminal(result: &RunResult, style: &Style) -> String {
    let page = Page { result, colour: style.colour, width: style.width.max(LEAST_WIDTH) };
    let (answer, tables) = match result.ladders.is_empty() {
        true => (page.answer(), page.tables()),
        false => (String::new(), page.ladders()),
    };
    let sections = [
        page.head(),
        answer,
        tables,
        page.claims(),
        page.worth(),
        page.starts(),
        page.published(),
        page.notes(),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

struct Page<'a> {
    result: &'a RunResult,
    colour: bool,
    width: usize,
}

impl Page<'_> {
    /// What can't be trusted, in red; what was run; how it ended if not as planned, and why.
    fn head(&self) -> String {
        let mut text = String::new();
        for sentence in wording::distrust(self.result) {
            text.push_str(&self.paragraph(Tone::Bad, "", &sentence, 0));
        }
        text.push_str(&flow("", &wording::title(self.result), " · ", self.width, 2));
        if let Some(state) = wording::state(self.result) {
            text.push_str(&self.paragraph(Tone::Bad, "", &state, 0));
        }
        for failure in &self.result.run.failures {
            text.push_str(&verbatim("  ", failure));
        }
        for sentence in wording::twins_differ(self.result) {
            text.push_str(&self.paragraph(Tone::Unsure, "", &sentence, 2));
        }
        text
    }

    fn answer(&self) -> String {
        let Some(answer) = answer(self.result) else { return String::new() };
        let sentence = |first: &str, line: &crate::answer::AnswerLine, indent| {
            let lead = self.paint(line.tone, &line.lead);
            // The lead may hold spaces; it is one piece with its punctuation, so that its colour is not torn.
            let (stop, rest) = line.rest.split_once(' ').unwrap_or((&line.rest, ""));
            wrap(&format!("{first}{lead}{stop} "), rest, self.width, indent)
        };
        match &answer.lines[..] {
            [line] => {
                let whole = sentence(&format!("{}   ", answer.question), line, 0);
                // An answer that doesn't fit beside its question stands below it, whole.
                if whole.lines().count() == 1 {
                    whole
                } else {
                    wrap("", &answer.question, self.width, 0) + &sentence("  ", line, 4)
                }
            }
            lines => {
                let about = |line: &crate::answer::AnswerLine| line.about.clone().unwrap_or_default();
                let column = lines.iter().map(|line| visible_width(&about(line))).max().unwrap_or(0);
                let common = answer.common.as_ref().map(|common| format!(" ({common})")).unwrap_or_default();
                let mut text = wrap("", &format!("{}{common}", answer.question), self.width, 0);
                for line in lines {
                    let name = about(line);
                    let space = " ".repeat(column - visible_width(&name));
                    text.push_str(&sentence(&format!("  {name}{space}   "), line, column + 5));
                }
                text
            }
        }
    }

    fn tables(&self) -> String {
        let groups = groups::groups(self.result);
        let several_loads = groups.len() > 1;
        let sections: Vec<String> = groups
            .iter()
            .map(|group| {
                let mut text = String::new();
                if several_loads {
                    text.push_str(&format!("{}\n", groups::load_name(group.baseline)));
                }
                text.push_str(&match group.contrasts[..] {
                    [(candidate, contrast)] => self.one_candidate(group.baseline, candidate, contrast),
                    _ => self.many_candidates(group),
                });
                for note in wording::row_notes(group.contrasts.iter().map(|(_, contrast)| *contrast)) {
                    text.push_str(&wrap("  ", &note, self.width, 4));
                }
                let contrasts = group.contrasts.iter().map(|(_, contrast)| *contrast);
                text + &self.seen(group.baseline, contrasts)
            })
            .collect();
        sections.join("\n") + &self.unknown()
    }

    fn ladders(&self) -> String {
        let several = self.result.ladders.len() > 1;
        let sections: Vec<String> = self
            .result
            .ladders
            .iter()
            .map(|ladder| {
                let mut text = String::from("What does each layer cost?");
                if let Some(bottom) = self.result.cell(ladder.bottom).filter(|_| several) {
                    text.push_str(&format!("   {}", groups::short_load_name(self.result, bottom)));
                }
                text.push('\n');
                for answer in ladder::answers(self.result, ladder) {
                    text.push_str(&wrap("  ", &answer, self.width, 4));
                }
                let grid = ladder::grid(self.result, ladder);
                let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
                let columns =
                    grid.headings.iter().enumerate().map(|(at, heading)| ((*heading).to_owned(), align(at)));
                let mut table = Table::new(columns.collect());
                for row in grid.rows {
                    table.push(row.into_iter().map(|(text, tone)| self.paint(tone, &text)).collect());
                }
                let contrasts =
                    ladder.rungs.iter().filter_map(|rung| self.result.contrasts.get(rung.contrast));
                let bottom = self.result.cell(ladder.bottom);
                let seen = bottom.map(|bottom| self.seen(bottom, contrasts)).unwrap_or_default();
                text + &table.without_empty_columns().render(self.width) + &seen
            })
            .collect();
        sections.join("\n") + &wrap("", &ladder::legend(self.result), self.width, 0) + &self.unknown()
    }

    /// How much of what was profiled has no layer; empty where nothing was.
    fn unknown(&self) -> String {
        seen::unknown(self.result).map(|line| wrap("", &line, self.width, 2)).unwrap_or_default()
    }

    fn seen<'a>(&self, bottom: &Cell, contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
        let contrasts: Vec<&Contrast> = contrasts.into_iter().collect();
        let (headings, rows) = seen::table(self.result, bottom, contrasts.iter().copied());
        if rows.is_empty() {
            return String::new();
        }
        let align = |at: usize| if matches!(at, 1 | 2) { Align::Right } else { Align::Left };
        let columns = headings.iter().enumerate().map(|(at, heading)| ((*heading).to_owned(), align(at)));
        let mut table = Table::new(columns.collect());
        rows.into_iter().for_each(|row| table.push(row));
        format!("\n{}", wrap("", seen::HEADING, self.width, 0))
            + &table.without_empty_columns().render(self.width)
    }

    fn one_candidate(&self, baseline: &Cell, candidate: &Cell, contrast: &Contrast) -> String {
        let mut table = Table::new(vec![
            (String::new(), Align::Left),
            (baseline.label.clone(), Align::Right),
            (candidate.label.clone(), Align::Right),
            ("difference".to_owned(), Align::Right),
            (String::new(), Align::Right),
            (figures::interval_name(self.result), Align::Left),
            ("verdict".to_owned(), Align::Left),
        ]);
        for row in contrast.rows.iter().filter(|row| row.primary) {
            let Some(scale) = groups::scale_of([row]) else { continue };
            table.push(vec![
                row.label.clone(),
                scale.figure(row.baseline),
                scale.figure(row.candidate),
                scale.difference(row.difference),
                row.relative.map(figures::percent).unwrap_or_default(),
                row.interval.map(|ends| scale.bare_interval(ends)).unwrap_or_default(),
                self.verdict(row, verdict::shown_with_bound(row, self.result.trust.trusted)),
            ]);
        }
        table.without_empty_columns().render(self.width)
    }

    /// Candidates side by side, as many as fit, the others in further tables below.
    fn many_candidates(&self, group: &Group<'_>) -> String {
        let metrics = group.metrics();
        let mut text = String::new();
        let mut start = 0;
        while start < group.contrasts.len() {
            let longest = (start + 1..=group.contrasts.len())
                .map(|end| (end, self.side_by_side(group, &metrics, start..end)))
                .take_while(|(end, table)| *end == start + 1 || table.least_width() <= self.width)
                .last();
            let Some((end, table)) = longest else { break };
            if start > 0 {
                text.push('\n');
            }
            text.push_str(&table.render(self.width));
            start = end;
        }
        let baseline = &group.baseline.label;
        let interval = figures::interval_name(self.result);
        let legend = format!("Differences from {baseline}, in its unit; ± the longer arm of the {interval}.");
        text + &wrap("", &legend, self.width, 0)
    }

    fn side_by_side(
        &self,
        group: &Group<'_>,
        metrics: &[Vec<Option<&Row>>],
        candidates: std::ops::Range<usize>,
    ) -> Table {
        let mut columns = vec![(String::new(), Align::Left), (group.baseline.label.clone(), Align::Right)];
        for (candidate, _) in &group.contrasts[candidates.clone()] {
            columns.push((candidate.label.clone(), Align::Right));
            columns.push((String::new(), Align::Left));
        }
        let mut table = Table::new(columns);
        for rows in metrics {
            let present = || rows.iter().flatten().copied();
            let (Some(scale), Some(first)) = (groups::scale_of(present()), present().next()) else {
                continue;
            };
            let mut cells = vec![first.label.clone(), scale.figure(first.baseline)];
            for row in &rows[candidates.clone()] {
                cells.push(row.map(|row| spread(row, &scale)).unwrap_or_default());
                let verdict =
                    |row: &Row| self.verdict(row, verdict::shown(row.verdict, self.result.trust.trusted));
                cells.push(row.map(verdict).unwrap_or_default());
            }
            table.push(cells);
        }
        table
    }

    fn claims(&self) -> String {
        let mut text = String::new();
        for line in claims::lines(self.result) {
            let tone = if self.result.trust.trusted { line.tone } else { Tone::Plain };
            let word =
                if self.result.trust.trusted { line.word.to_owned() } else { format!("({})", line.word) };
            text.push_str(&wrap(
                &format!("{}: ", self.paint(tone, &word)),
                &format!("“{}”", line.text),
                self.width,
                2,
            ));
            for finding in &line.findings {
                text.push_str(&wrap("  ", finding, self.width, 4));
            }
        }
        if text.is_empty() { text } else { format!("What others say:\n{text}") }
    }

    fn starts(&self) -> String {
        let (headings, rows) = starts::table(self.result);
        if rows.is_empty() {
            return String::new();
        }
        let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
        let columns = headings.into_iter().enumerate().map(|(at, heading)| (heading, align(at))).collect();
        let mut table = Table::new(columns);
        rows.into_iter().for_each(|row| table.push(row));
        wrap("", starts::HEADING, self.width, 0) + &table.without_empty_columns().render(self.width)
    }

    /// Resolution, trust, what to do about what is unresolved.
    fn worth(&self) -> String {
        let mut text = String::new();
        if self.result.slices.is_empty() {
            return text;
        }
        for sentence in wording::resolution(self.result) {
            text.push_str(&wrap("", &sentence, self.width, 2));
        }
        let mut pieces: Vec<String> = self
            .result
            .trust
            .gates
            .iter()
            .map(|gate| {
                let mark =
                    if gate.holds { self.paint(Tone::Good, "✓") } else { self.paint(Tone::Bad, "✗") };
                format!("{} {mark}", said(&gate.figure))
            })
            .collect();
        pieces.push(format!("({})", wording::slices(self.result)));
        text.push_str(&flow("Trust: ", &pieces, "  ", self.width, 7));
        for sentence in wording::repeats(self.result) {
            text.push_str(&wrap("       ", &sentence, self.width, 7));
        }
        for sentence in wording::settle(self.result).into_iter().chain(time_spent(self.result)) {
            text.push_str(&wrap("", &sentence, self.width, 2));
        }
        text
    }

    /// Each cell on its own, as it is often published.
    fn published(&self) -> String {
        if !self.result.ladders.is_empty() {
            return String::new();
        }
        let figures = |cell: &Cell| PUBLISHED.map(|(metric, _)| figure_of(cell, metric).cloned());
        let cells: Vec<(&Cell, [Option<Figure>; 2])> = self
            .result
            .cells
            .iter()
            .map(|cell| (cell, figures(cell)))
            .filter(|(_, figures)| figures.iter().any(Option::is_some))
            .collect();
        if cells.is_empty() {
            return String::new();
        }
        let mut columns = vec![("response time".to_owned(), Align::Left)];
        for (_, name) in PUBLISHED {
            columns.push((name.to_owned(), Align::Right));
            columns.push(("t 95 % interval".to_owned(), Align::Right));
        }
        let mut table = Table::new(columns);
        for (cell, figures) in &cells {
            let mut row = vec![groups::cell_name(self.result, cell)];
            for figure in figures {
                let scale = figure.as_ref().map(|figure| Scale::of(figure.unit, &[figure.value]));
                let text = |show: &dyn Fn(&Figure, &Scale) -> Option<String>| {
                    figure.as_ref().zip(scale.as_ref()).and_then(|(f, s)| show(f, s)).unwrap_or_default()
                };
                row.push(text(&|figure, scale| Some(scale.figure(figure.value))));
                row.push(text(&|figure, scale| figure.t_interval.map(|ends| scale.range(ends))));
            }
            table.push(row);
        }
        let heading = "Each on its own, with Student's t, as it is often published; compare by the table above instead.";
        wrap("", heading, self.width, 0) + &table.without_empty_columns().render(self.width)
    }

    fn notes(&self) -> String {
        let surroundings = wording::surroundings(self.result);
        let surroundings = surroundings.iter().map(|line| wrap("", line, self.width, 2));
        let notes = self.result.notes.iter().map(|note| wrap("Note: ", &said(note), self.width, 6));
        surroundings.chain(notes).collect()
    }

    fn verdict(&self, row: &Row, text: String) -> String {
        // Without trust the words stand, but nothing cheers or warns.
        let trusted = self.result.trust.trusted;
        let tone = if trusted { verdict::tone(row.verdict) } else { Tone::Plain };
        self.paint(tone, &text)
    }

    fn paragraph(&self, tone: Tone, first: &str, sentence: &str, indent: usize) -> String {
        let text = wrap(first, sentence, self.width, indent);
        text.lines().map(|line| self.paint(tone, line) + "\n").collect()
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        tone.paint(text, self.colour)
    }
}

/// Text of others, such as a service's last output: its own lines, indented, without anything that steers a terminal.
fn verbatim(indent: &str, text: &str) -> String {
    let harmless =
        |line: &str| line.chars().filter(|next| !next.is_control() || *next == '\t').collect::<String>();
    text.lines().map(|line| format!("{indent}{}\n", harmless(line))).collect()
}

/// `+4.1 ±0.6`
fn spread(row: &Row, scale: &Scale) -> String {
    let difference = scale.bare_difference(row.difference);
    match row.interval {
        Some([low, high]) => {
            let arm = (high - row.difference).max(row.difference - low);
            format!("{difference} {}", scale.bare_margin(arm))
        }
        None => difference,
    }
}

fn figure_of<'a>(cell: &'a Cell, metric: &str) -> Option<&'a Figure> {
    cell.figures.iter().find(|figure| figure.metric == metric)
}
