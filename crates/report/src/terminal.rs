//! The result on a terminal: the answer first, then the figures it rests on, then what they are worth.
//! Colour marks verdicts and trust, nothing else.

use loadline_model::printable;
use loadline_model::result::{Capacities, Cell, CellCapacity, Figure, Row, RunResult};

use crate::answer::answer;
use crate::capacity;
use crate::checks::{Check, checks};
use crate::claims;
use crate::distrust;
use crate::failed_requests;
use crate::figures::Scale;
use crate::groups;
use crate::overview;
use crate::own_figures;
use crate::runtimes;
use crate::scalability;
use crate::shown::texts;
use crate::spectrum;
use crate::spread;
use crate::starts;
use crate::sweeps::{self, SweptTable};
use crate::tails;
use crate::text::{Align, Table, flow, visible_width, wrap};
use crate::throttling;
use crate::time_spent::time_spent;
use crate::verdict::{self, Tone};
use crate::wording;
use crate::words::said;

mod tables;

/// The narrowest terminal that is laid out for.
const LEAST_WIDTH: usize = 40;
/// The widest lines of sentences: longer ones are hard to read. Tables may be wider.
const PROSE_WIDTH: usize = 100;
/// The metrics that others publish with Student's t.
const PUBLISHED: [(&str, &str); 2] = [("response.mean", "mean"), ("response.p99", "p99")];

/// How to write on a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// Columns to fit into; 100 is what the layout is made for. Where a table does not fit, each row has lines of its own; from 120 on
    /// differences are drawn as well.
    pub width: usize,
    /// Whether to show every comparison in full, however many there are.
    pub full: bool,
    /// Whether to show each request of a mix by itself, too; every comparison is then shown in full.
    pub by_request: bool,
    /// Whether to show the whole distribution of response times, too.
    pub spectrum: bool,
}

/// The result as text for a terminal, ending with a line break.
pub fn terminal(result: &RunResult, style: &Style) -> String {
    let width = style.width.max(LEAST_WIDTH);
    let page = Page {
        result,
        colour: style.colour,
        width,
        prose: width.min(PROSE_WIDTH),
        by_request: style.by_request,
    };
    let many = overview::is_needed(result);
    let mut sections = if let Some(found) = &result.capacities {
        let mut sections = vec![
            page.head(),
            page.checks(),
            page.capacities(found),
            page.claims(),
            page.starts(),
            page.trust(),
        ];
        sections.extend(style.full.then(|| page.curves(found)));
        sections.extend([page.runtimes(), page.notes()]);
        sections
    } else if many && !style.full && !style.by_request {
        // The intervals say how much was seen; the resolution by load and metric is as long as a table.
        vec![
            page.head(),
            page.checks(),
            page.claims(),
            page.overview(),
            page.sweeps(),
            page.trust(),
            page.scalability(),
            page.tails(),
            page.runtimes(),
            page.notes(),
        ]
    } else {
        let mut sections = vec![page.head(), page.checks()];
        if !result.ladders.is_empty() {
            sections.extend([page.ladders(), page.claims()]);
        } else if many {
            sections.extend([page.claims(), page.answer(), page.tables(), page.sweeps()]);
        } else {
            sections.extend([page.answer(), page.claims(), page.tables(), page.sweeps()]);
            sections.extend((style.full || !sweeps::have_all(result)).then(|| page.own_figures()));
        }
        sections.extend([
            page.worth(),
            page.scalability(),
            page.tails(),
            page.starts(),
            page.runtimes(),
            page.published(),
            page.notes(),
        ]);
        sections
    };
    if style.spectrum {
        // The notes come last.
        sections.insert(sections.len() - 1, page.spectrum());
    }
    let text = sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n");
    printable_but_colours(&text, style.colour)
}

/// Whatever others wrote in it made printable; the page's own colours stay.
pub(crate) fn printable_but_colours(text: &str, coloured: bool) -> String {
    let mut parts = text.split('\u{1b}');
    let mut shown = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let parameters =
            part.strip_prefix('[').and_then(|rest| rest.split_once('m')).map(|(digits, _)| digits);
        let is_colour =
            parameters.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit() || b == b';'));
        shown.push_str(if coloured && is_colour { "\u{1b}" } else { "\\u{1b}" });
        shown.push_str(&printable(part));
    }
    shown
}

struct Page<'a> {
    result: &'a RunResult,
    colour: bool,
    width: usize,
    /// Columns of sentences.
    prose: usize,
    by_request: bool,
}

impl Page<'_> {
    /// What can't be trusted, in red; what was run; how it ended if not as planned, and why.
    fn head(&self) -> String {
        let mut text = String::new();
        let first = wording::missing(self.result).into_iter().chain(wording::reservations(self.result));
        for sentence in first.chain(distrust::sentences(self.result)) {
            text.push_str(&self.paragraph(Tone::Bad, "", &sentence, 0));
        }
        text.push_str(&flow("", &wording::title(self.result), " · ", self.prose, 2));
        if let Some(state) = wording::state(self.result) {
            text.push_str(&self.paragraph(Tone::Bad, "", &state, 0));
        }
        for failure in &self.result.run.failures {
            text.push_str(&verbatim("  ", failure));
        }
        let known =
            failed_requests::sentence(self.result).into_iter().chain(throttling::sentence(self.result));
        for sentence in known.chain(wording::twins_differ(self.result)) {
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
            wrap(&format!("{first}{lead}{stop} "), rest, self.prose, indent)
        };
        match &answer.lines[..] {
            [line] => {
                let whole = sentence(&format!("{}   ", answer.question), line, 0);
                // An answer that doesn't fit beside its question stands below it, whole.
                if whole.lines().count() == 1 {
                    whole
                } else {
                    wrap("", &answer.question, self.prose, 0) + &sentence("  ", line, 4)
                }
            }
            lines => {
                let about = |line: &crate::answer::AnswerLine| line.about.clone().unwrap_or_default();
                let column = lines.iter().map(|line| visible_width(&about(line))).max().unwrap_or(0);
                let common = answer.common.as_ref().map(|common| format!(" ({common})")).unwrap_or_default();
                let mut text = wrap("", &format!("{}{common}", answer.question), self.prose, 0);
                // Names that leave no room beside them stand above their answers.
                let is_beside = 2 * column <= self.prose;
                for line in lines {
                    let name = about(line);
                    if !is_beside {
                        text.push_str(&wrap("  ", &name, self.prose, 4));
                        text.push_str(&sentence("    ", line, 6));
                        continue;
                    }
                    let space = " ".repeat(column - visible_width(&name));
                    text.push_str(&sentence(&format!("  {name}{space}   "), line, column + 5));
                }
                text
            }
        }
    }

    /// The most that each cell carries.
    fn capacities(&self, found: &Capacities) -> String {
        let question = self.result.run.question.as_deref().unwrap_or(capacity::QUESTION);
        let mut text = wrap("", &format!("{question} {}", capacity::objectives(found)), self.prose, 2);
        text.push_str(&self.table(capacity::table(self.result, found)));
        for difference in capacity::differences(self.result, found) {
            text.push_str(&self.paragraph(difference.tone, "  ", &difference.line, 4));
        }
        for finding in capacity::findings(self.result, found) {
            text.push_str(&self.paragraph(Tone::Unsure, "  ", &finding, 4));
        }
        for (title, table) in capacity::compared(self.result, found) {
            text.push_str(&format!("\n{title}\n{}", self.table(table)));
        }
        for line in capacity::besides(self.result, found) {
            text.push_str(&wrap("  ", &line, self.prose, 4));
        }
        text
    }

    /// Every rate that was tried.
    fn curves(&self, found: &Capacities) -> String {
        let one = |capacity: &CellCapacity| {
            let name = groups::cell_name(self.result, &self.result.cells[capacity.cell]);
            format!("{name}\n{}", self.table(capacity::curve(capacity)))
        };
        found.cells.iter().map(one).collect::<Vec<String>>().join("\n")
    }

    /// Names on the left, figures on their points, words behind them.
    fn table(&self, (headings, rows): capacity::Grid) -> String {
        let last = headings.len() - 1;
        // What a row is about has no heading, but for the share beside a difference.
        let names = headings.iter().take_while(|heading| heading.is_empty()).count();
        let align = |at: usize| if at < names || at == last { Align::Left } else { Align::Point };
        let columns = headings.into_iter().enumerate().map(|(at, heading)| (heading, align(at))).collect();
        let mut table = Table::new(columns);
        texts(&rows).into_iter().for_each(|row| table.push(row));
        table.without_empty_columns().render(self.width)
    }

    /// What the run was to pass.
    fn checks(&self) -> String {
        let one = |check: &Check| {
            let word = self.paint(check.outcome.tone(), check.outcome.word());
            let details = check.details().iter();
            let details: String = details.map(|sentence| wrap("  ", sentence, self.prose, 4)).collect();
            wrap(&format!("{word}: "), &check.about(), self.prose, 2) + &details
        };
        checks(self.result).iter().map(one).collect()
    }

    fn claims(&self) -> String {
        let mut text = String::new();
        for line in claims::lines(self.result) {
            text.push_str(&wrap(
                &format!("{}: ", self.paint(line.tone, &line.word)),
                &format!("“{}”", line.text),
                self.prose,
                2,
            ));
            for finding in &line.findings {
                text.push_str(&wrap("  ", &finding.to_string(), self.prose, 4));
            }
        }
        if let Some(legend) = claims::legend(self.result) {
            text.push_str(&wrap("", &legend, self.prose, 0));
        }
        if text.is_empty() { text } else { format!("Claims:\n{text}") }
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
        wrap("", starts::HEADING, self.prose, 0) + &table.without_empty_columns().render(self.width)
    }

    /// Resolution, trust, what to do about what is unresolved.
    fn worth(&self) -> String {
        if self.result.slices.is_empty() {
            return String::new();
        }
        self.resolution() + &self.trust()
    }

    fn resolution(&self) -> String {
        wording::resolution(self.result).iter().map(|sentence| wrap("", sentence, self.prose, 2)).collect()
    }

    fn trust(&self) -> String {
        let mut text = String::new();
        if self.result.slices.is_empty() {
            return text;
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
        text.push_str(&flow("Trust: ", &pieces, "  ", self.prose, 7));
        for sentence in wording::repeats(self.result) {
            text.push_str(&wrap("       ", &sentence, self.prose, 7));
        }
        if let Some(sentence) = spread::sentence(self.result) {
            text.push_str(&wrap("       ", &sentence, self.prose, 7));
        }
        for sentence in wording::settle(self.result).into_iter().chain(time_spent(self.result)) {
            text.push_str(&wrap("", &sentence, self.prose, 2));
        }
        text
    }

    /// How throughput grows with connections.
    fn scalability(&self) -> String {
        scalability::sentences(self.result).iter().map(|line| wrap("", line, self.prose, 2)).collect()
    }

    /// What the slowest requests met.
    fn tails(&self) -> String {
        let lines = tails::lines(self.result);
        if lines.is_empty() {
            return String::new();
        }
        let lines: String = lines.iter().map(|line| wrap("  ", line, self.prose, 4)).collect();
        wrap("", tails::HEADING, self.prose, 0) + &lines
    }

    /// How the language runtimes of the services were set up.
    fn runtimes(&self) -> String {
        runtimes::lines(self.result).iter().map(|line| wrap("", line, self.prose, 2)).collect()
    }

    /// The figures of cells that differ in one number.
    fn sweeps(&self) -> String {
        let tables = sweeps::tables(self.result);
        if tables.is_empty() {
            return String::new();
        }
        let rendered = tables.into_iter().map(|SweptTable { title, headings, rows }| {
            let mut table = Table::new(headings.into_iter().map(|heading| (heading, Align::Point)).collect());
            texts(&rows).into_iter().for_each(|row| table.push(row));
            wrap("", &title, self.prose, 2) + &table.without_empty_columns().render(self.width)
        });
        rendered.collect::<Vec<String>>().join("\n") + &wrap("", sweeps::caption(self.result), self.prose, 0)
    }

    /// The figures of cells that are compared with nothing.
    fn own_figures(&self) -> String {
        let Some((headings, rows)) = own_figures::table(self.result) else { return String::new() };
        let align = |at: usize| if at == 0 { Align::Left } else { Align::Point };
        let columns = headings.into_iter().enumerate().map(|(at, heading)| (heading, align(at))).collect();
        let mut table = Table::new(columns);
        texts(&rows).into_iter().for_each(|row| table.push(row));
        table.without_empty_columns().render(self.width) + &wrap("", own_figures::HEADING, self.prose, 0)
    }

    /// Each cell on its own, as it is often published.
    fn published(&self) -> String {
        if !self.result.ladders.is_empty() || self.result.contrasts.is_empty() {
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
        wrap("", heading, self.prose, 0) + &table.without_empty_columns().render(self.width)
    }

    fn spectrum(&self) -> String {
        let tables = spectrum::tables(self.result);
        if tables.is_empty() {
            return String::new();
        }
        let rendered = tables.into_iter().map(|(headings, rows)| {
            let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
            let columns = headings.into_iter().enumerate().map(|(at, heading)| (heading, align(at)));
            let mut table = Table::new(columns.collect());
            rows.into_iter().for_each(|row| table.push(row));
            table.render(self.width)
        });
        wrap("", spectrum::HEADING, self.prose, 0) + &rendered.collect::<Vec<String>>().join("\n")
    }

    fn notes(&self) -> String {
        let surroundings = wording::surroundings(self.result);
        let surroundings = surroundings.iter().map(|line| wrap("", line, self.prose, 2));
        let notes = self.result.notes.iter().map(|note| wrap("Note: ", &said(note), self.prose, 6));
        surroundings.chain(notes).collect()
    }

    fn verdict(&self, row: &Row, text: String) -> String {
        self.paint(verdict::tone_of(row), &text)
    }

    fn paragraph(&self, tone: Tone, first: &str, sentence: &str, indent: usize) -> String {
        let text = wrap(first, sentence, self.prose, indent);
        text.lines().map(|line| self.paint(tone, line) + "\n").collect()
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        tone.paint(text, self.colour)
    }
}

/// Text of others, such as a service's last output: its own lines, indented.
fn verbatim(indent: &str, text: &str) -> String {
    text.lines().map(|line| format!("{indent}{}\n", printable(line))).collect()
}

fn figure_of<'a>(cell: &'a Cell, metric: &str) -> Option<&'a Figure> {
    cell.figures.iter().find(|figure| figure.metric == metric)
}
