//! Laying text out on a terminal: how wide it is, where it may break, and aligned columns.
//! Escape sequences of colour take no width.

use unicode_width::UnicodeWidthChar;

/// Columns between the columns of a table, from roomy to tight.
const GAPS: [usize; 3] = [3, 2, 1];
/// A heading wider than this is broken at its spaces.
const HEADING_WIDTH: usize = 16;

/// Where the text of a table's column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// Columns of text without borders, headings above.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(columns: Vec<(String, Align)>) -> Table {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row; it has a cell per column.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Leaves out the columns in which no row has anything.
    pub fn without_empty_columns(mut self) -> Table {
        for column in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }

    /// The width it needs at the least.
    pub fn least_width(&self) -> usize {
        self.width(GAPS[GAPS.len() - 1])
    }

    /// The lines of the table, as roomy as `width` allows; a table that can't fit is wider rather than cut.
    pub fn render(&self, width: usize) -> String {
        let gap = GAPS.into_iter().find(|gap| self.width(*gap) <= width).unwrap_or(GAPS[GAPS.len() - 1]);
        let widths = self.widths();
        let headings: Vec<Vec<String>> =
            self.columns.iter().map(|(heading, _)| heading_lines(heading)).collect();
        let depth = headings.iter().map(Vec::len).max().unwrap_or(0);
        let heading_rows = (0..depth).map(|line| {
            // The last lines of all headings stand on one line.
            headings
                .iter()
                .map(|lines| {
                    (line + lines.len())
                        .checked_sub(depth)
                        .map_or("", |index| lines[index].as_str())
                        .to_owned()
                })
                .collect::<Vec<_>>()
        });
        let mut text = String::new();
        for row in heading_rows.chain(self.rows.iter().cloned()) {
            let mut line = String::new();
            for ((cell, (_, align)), width) in row.iter().zip(&self.columns).zip(&widths) {
                let space = " ".repeat(width.saturating_sub(visible_width(cell)));
                match align {
                    Align::Left => line.extend([cell.as_str(), &space]),
                    Align::Right => line.extend([&space, cell.as_str()]),
                }
                line.push_str(&" ".repeat(gap));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn width(&self, gap: usize) -> usize {
        self.widths().iter().sum::<usize>() + gap * self.columns.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let heading = |(heading, _): &(String, Align)| {
            heading_lines(heading).iter().map(|line| visible_width(line)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.columns.iter().map(heading).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(visible_width(cell));
            }
        }
        widths
    }
}

/// Width on a terminal, without escape sequences (`ESC [ … m`).
pub(crate) fn visible_width(text: &str) -> usize {
    let mut width = 0;
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next == '\u{1b}' {
            chars.by_ref().find(|end| *end == 'm');
        } else {
            width += next.width().unwrap_or(0);
        }
    }
    width
}

/// `first` and then the pieces, separated, on lines of at most `width`; later lines are indented by `indent`.
/// A piece is never broken.
pub(crate) fn flow(first: &str, pieces: &[String], separator: &str, width: usize, indent: usize) -> String {
    let mut lines = vec![first.to_owned()];
    let mut fresh = true;
    for piece in pieces {
        let Some(line) = lines.last_mut() else { break };
        let joint = if fresh { "" } else { separator };
        if !fresh && visible_width(line) + visible_width(joint) + visible_width(piece) > width {
            line.push_str(separator.trim_end());
            lines.push(" ".repeat(indent) + piece);
        } else {
            line.extend([joint, piece]);
        }
        fresh = false;
    }
    lines.join("\n") + "\n"
}

/// A sentence on lines of at most `width`; a number stays with its unit.
pub(crate) fn wrap(first: &str, sentence: &str, width: usize, indent: usize) -> String {
    flow(first, &words(sentence), " ", width, indent)
}

fn words(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphabetic() && c != '%');
        let is_unit = matches!(bare, "ns" | "µs" | "ms" | "s" | "%" | "B" | "KiB" | "MiB" | "GiB");
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit() || c == ']') => {
                number.extend([" ", word]);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn heading_lines(heading: &str) -> Vec<String> {
    let pieces: Vec<String> = heading.split(' ').map(str::to_owned).collect();
    flow("", &pieces, " ", HEADING_WIDTH, 0).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_take_no_width_and_wide_characters_take_two() {
        assert_eq!(visible_width("\u{1b}[31mµs\u{1b}[0m"), 2);
        assert_eq!(visible_width("注文"), 4);
    }

    #[test]
    fn a_sentence_breaks_between_words_but_not_before_a_unit() {
        assert_eq!(wrap("", "it costs +4.1 µs more", 14, 2), "it costs\n  +4.1 µs more\n");
        assert_eq!(
            wrap("Note: ", "averyveryverylongword fits nowhere", 10, 6),
            "Note: averyveryverylongword\n      fits\n      nowhere\n"
        );
    }

    #[test]
    fn a_broken_line_keeps_its_separator() {
        let pieces = ["host".to_owned(), "2000/s".to_owned()];
        assert_eq!(flow("", &pieces, " · ", 8, 0), "host ·\n2000/s\n");
    }

    #[test]
    fn columns_align_and_tighten_to_fit() {
        let mut table = Table::new(vec![
            (String::new(), Align::Left),
            ("a heading of many words".to_owned(), Align::Right),
            ("verdict".to_owned(), Align::Left),
        ]);
        table.push(vec!["p50".to_owned(), "61.2 µs".to_owned(), "\u{1b}[31mslower\u{1b}[0m".to_owned()]);
        assert_eq!(
            table.render(80),
            "      a heading of\n        many words   verdict\np50        61.2 µs   \u{1b}[31mslower\u{1b}[0m\n"
        );
        let tight = table.render(0);
        assert!(tight.lines().all(|line| visible_width(line) <= table.least_width()), "{tight}");
    }
}
