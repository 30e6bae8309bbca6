//! The tables of comparisons and of ladders.

use loadline_model::result::{Cell, Contrast, Row};

use super::Page;
use crate::answer;
use crate::bar::{self, Bars};
use crate::figures;
use crate::groups::{self, Group};
use crate::ladder;
use crate::overview::{self, Grid};
use crate::seen;
use crate::text::{Align, Table, wrap};
use crate::verdict;
use crate::wording;

/// The narrowest terminal that differences are drawn on.
const DRAWN_FROM: usize = 120;

impl Page<'_> {
    pub(super) fn tables(&self) -> String {
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
                    [(candidate, contrast)] => {
                        let rows = contrast.rows.iter().filter(|row| row.primary);
                        self.one_candidate(
                            group.baseline,
                            candidate,
                            rows.map(|row| (row.label.clone(), row)),
                        )
                    }
                    _ => self.many_candidates(group),
                });
                if self.by_request {
                    group.contrasts.iter().for_each(|(candidate, contrast)| {
                        text.push_str(&self.requests(group.baseline, candidate, contrast));
                    });
                }
                for note in wording::row_notes(group.contrasts.iter().map(|(_, contrast)| *contrast)) {
                    text.push_str(&wrap("  ", &note, self.prose, 4));
                }
                let contrasts = group.contrasts.iter().map(|(_, contrast)| *contrast);
                text + &self.seen(group.baseline, contrasts)
            })
            .collect();
        let drawn = sections.iter().any(|section| section.contains(bar::POINT));
        let legend = if drawn { wrap("", bar::LEGEND, self.prose, 0) } else { String::new() };
        sections.join("\n") + &legend + &self.unknown()
    }

    pub(super) fn ladders(&self) -> String {
        let several = self.result.ladders.len() > 1;
        let sections: Vec<String> = self
            .result
            .ladders
            .iter()
            .map(|ladder| {
                let mut text = String::from(ladder::QUESTION);
                if let Some(bottom) = self.result.cell(ladder.bottom).filter(|_| several) {
                    text.push_str(&format!("   {}", groups::short_load_name(self.result, bottom)));
                }
                text.push('\n');
                for answer in ladder::answers(self.result, ladder) {
                    text.push_str(&wrap("  ", &answer, self.prose, 4));
                }
                let grid = ladder::grid(self.result, ladder);
                let align = |at: usize| if at == 0 { Align::Left } else { Align::Point };
                let columns =
                    grid.headings.iter().enumerate().map(|(at, heading)| ((*heading).to_owned(), align(at)));
                let mut table = Table::new(columns.collect());
                for row in grid.rows {
                    table.push(row.iter().map(|cell| self.paint(cell.tone, &cell.text)).collect());
                }
                let contrasts =
                    ladder.rungs.iter().filter_map(|rung| self.result.contrasts.get(rung.contrast));
                let bottom = self.result.cell(ladder.bottom);
                let seen = bottom.map(|bottom| self.seen(bottom, contrasts)).unwrap_or_default();
                text + &table.without_empty_columns().render(self.width) + &seen
            })
            .collect();
        sections.join("\n") + &wrap("", &ladder::legend(self.result), self.prose, 0) + &self.unknown()
    }

    /// How much of what was profiled has no layer; empty where nothing was.
    fn unknown(&self) -> String {
        seen::unknown(self.result).map(|line| wrap("", &line, self.prose, 2)).unwrap_or_default()
    }

    fn seen<'a>(&self, bottom: &Cell, contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
        let contrasts: Vec<&Contrast> = contrasts.into_iter().collect();
        let (headings, rows) = seen::table(self.result, bottom, contrasts.iter().copied());
        if rows.is_empty() {
            return String::new();
        }
        let align = |at: usize| if matches!(at, 1 | 2) { Align::Point } else { Align::Left };
        let columns = headings.iter().enumerate().map(|(at, heading)| ((*heading).to_owned(), align(at)));
        let mut table = Table::new(columns.collect());
        rows.into_iter().for_each(|row| table.push(row));
        format!("\n{}", wrap("", seen::HEADING, self.prose, 0))
            + &table.without_empty_columns().render(self.width)
    }

    /// Each request of a mix by itself; empty where there are none.
    fn requests(&self, baseline: &Cell, candidate: &Cell, contrast: &Contrast) -> String {
        let rows: Vec<(String, &Row)> = contrast.rows_by_request().filter(|(_, row)| row.primary).collect();
        if rows.is_empty() {
            return String::new();
        }
        format!("\n{}\n", wording::BY_REQUEST) + &self.one_candidate(baseline, candidate, rows)
    }

    fn one_candidate<'r>(
        &self,
        baseline: &Cell,
        candidate: &Cell,
        rows: impl IntoIterator<Item = (String, &'r Row)>,
    ) -> String {
        let mut table = Table::new(vec![
            (String::new(), Align::Left),
            (baseline.label.clone(), Align::Point),
            (candidate.label.clone(), Align::Point),
            ("difference".to_owned(), Align::Point),
            (String::new(), Align::Point),
            (figures::interval_name(self.result), Align::Point),
            ("verdict".to_owned(), Align::Left),
            (String::new(), Align::Left),
        ]);
        for (label, row) in rows {
            let Some(scale) = groups::scale_of([row]) else { continue };
            table.push(vec![
                label,
                scale.figure(row.baseline),
                scale.figure(row.candidate),
                scale.difference(row.difference),
                row.relative.map(figures::percent).unwrap_or_default(),
                row.interval.map(|ends| scale.bare_interval(ends)).unwrap_or_default(),
                self.verdict(row, verdict::shown_with_bound(row)),
                if self.draws() { Bars::of([row], bar::WIDE).draw(row) } else { String::new() },
            ]);
        }
        table.without_empty_columns().render(self.width)
    }

    /// Whether differences are drawn.
    fn draws(&self) -> bool {
        self.width >= DRAWN_FROM
    }

    /// Candidates side by side, as many as fit, the others in further tables below.
    fn many_candidates(&self, group: &Group<'_>) -> String {
        let metrics = group.metrics();
        let candidates = 0..group.contrasts.len();
        let baseline = &group.baseline.label;
        let interval = figures::interval_name(self.result);
        let legend = format!("Differences from {baseline}, in its unit; ± the longer arm of the {interval}.");
        let legend = wrap("", &legend, self.prose, 0);
        let drawn = self.side_by_side(group, &metrics, candidates.clone(), self.draws());
        if self.draws() && drawn.roomy_width() <= self.width {
            return drawn.render(self.width) + &legend;
        }
        let tables = self.fitting(candidates, |part| self.side_by_side(group, &metrics, part, false));
        tables + &legend
    }

    /// As few tables as hold all columns, each as wide as fits.
    fn fitting(
        &self,
        columns: std::ops::Range<usize>,
        table: impl Fn(std::ops::Range<usize>) -> Table,
    ) -> String {
        let mut tables = Vec::new();
        let mut start = columns.start;
        while start < columns.end {
            let longest = (start + 1..=columns.end)
                .map(|end| (end, table(start..end)))
                .take_while(|(end, table)| *end == start + 1 || table.least_width() <= self.width)
                .last();
            let Some((end, table)) = longest else { break };
            tables.push(table.render(self.width));
            start = end;
        }
        tables.join("\n")
    }

    fn side_by_side(
        &self,
        group: &Group<'_>,
        metrics: &[Vec<Option<&Row>>],
        candidates: std::ops::Range<usize>,
        draw: bool,
    ) -> Table {
        let mut columns = vec![(String::new(), Align::Left), (group.baseline.label.clone(), Align::Point)];
        for (candidate, _) in &group.contrasts[candidates.clone()] {
            columns.push((candidate.label.clone(), Align::Point));
            columns.push((String::new(), Align::Left));
            columns.extend(draw.then(|| (String::new(), Align::Left)));
        }
        let mut table = Table::new(columns);
        for rows in metrics {
            let present = || rows.iter().flatten().copied();
            let (Some(scale), Some(first)) = (groups::scale_of(present()), present().next()) else {
                continue;
            };
            let bars = Bars::of(present(), bar::NARROW);
            let mut cells = vec![first.label.clone(), scale.figure(first.baseline)];
            for row in &rows[candidates.clone()] {
                cells.push(row.map(|row| scale.spread(row.difference, row.interval)).unwrap_or_default());
                let shown = |row: &Row| self.verdict(row, verdict::shown(row));
                cells.push(row.map(shown).unwrap_or_default());
                cells.extend(draw.then(|| row.map(|row| bars.draw(row)).unwrap_or_default()));
            }
            table.push(cells);
        }
        table
    }

    /// The comparisons of many loads and platforms at a glance.
    pub(super) fn overview(&self) -> String {
        let mut text = String::new();
        if let Some(question) = answer::question(self.result) {
            text.push_str(&wrap("", &question, self.prose, 0));
        }
        if let Some(summary) = overview::summary(self.result) {
            text.push_str(&wrap("  ", &summary, self.prose, 4));
        }
        for grid in overview::grids(self.result) {
            text.push_str(&format!("\n{}", wrap("", &grid.title, self.prose, 2)));
            let columns = grid.fixed..grid.headings.len();
            text.push_str(&self.fitting(columns, |part| self.part(&grid, part)));
        }
        text.push_str(&wrap("", &overview::legend(self.result), self.prose, 0));
        text + &wrap("", overview::MORE, self.prose, 0)
    }

    /// Some of a grid's columns, after those that each part has.
    fn part(&self, grid: &Grid, columns: std::ops::Range<usize>) -> Table {
        let shown: Vec<usize> = (0..grid.fixed).chain(columns).collect();
        let align = |at: usize| if at == 0 { Align::Left } else { Align::Point };
        let mut table = Table::new(shown.iter().map(|at| (grid.headings[*at].clone(), align(*at))).collect());
        for row in &grid.rows {
            table.push(shown.iter().map(|at| self.paint(row[*at].tone, &row[*at].text)).collect());
        }
        table
    }
}
