//! Laying text out on a terminal: how wide it is, where it may break, and aligned columns.
//! Escape sequences of colour take no width.

use unicode_width::UnicodeWidthChar;

/// Columns between the columns of a table, from roomy to tight.
const GAPS: [usize; 3] = [3, 2, 1];
/// A column that is narrower than this has no room for words.
const LEAST_ROOM: usize = 20;
/// A heading wider than this is broken at its spaces.
const HEADING_WIDTH: usize = 16;

/// Where the text of a table's column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Figures of one kind.
    Right,
    /// Figures that differ in size, one or several in a cell: each stands on its decimal point.
    Point,
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
        self.width(&self.rows, GAPS[GAPS.len() - 1])
    }

    /// The width it needs with its decimal points aligned and room between its columns.
    pub fn roomy_width(&self) -> usize {
        self.width(&self.aligned(), GAPS[1])
    }

    /// The lines of the table, as roomy as `width` allows. Decimal points are aligned where there is room for that; what does not fit as a
    /// table has lines of its own for each row.
    pub fn render(&self, width: usize) -> String {
        let fits = |text: &String| text.lines().all(|line| visible_width(line) <= width);
        let table = Some(self.as_table(width)).filter(fits);
        table
            .or_else(|| self.with_last_column_broken(width).filter(fits))
            .unwrap_or_else(|| self.rows.iter().map(|row| self.on_lines(row, width)).collect())
    }

    /// The table with the words of its last column on several lines; `None` where that is no text, or where it would have hardly any room.
    fn with_last_column_broken(&self, width: usize) -> Option<String> {
        let (last, others) = self.columns.split_last()?;
        let widths = self.widths(&self.rows);
        let taken = widths[..others.len()].iter().sum::<usize>() + GAPS[GAPS.len() - 1] * others.len();
        let room = width.checked_sub(taken).filter(|room| last.1 == Align::Left && *room >= LEAST_ROOM)?;
        let mut table = Table::new(self.columns.clone());
        for row in &self.rows {
            let (words, figures) = row.split_last()?;
            let mut figures = figures.to_vec();
            for line in wrap("", words, room, 0).lines() {
                let empty = vec![String::new(); others.len()];
                table.push([std::mem::replace(&mut figures, empty), vec![line.to_owned()]].concat());
            }
        }
        Some(table.as_table(width))
    }

    fn as_table(&self, width: usize) -> String {
        let aligned = self.aligned();
        let roomy = &GAPS[..GAPS.len() - 1];
        let fitting = roomy.iter().copied().find(|gap| self.width(&aligned, *gap) <= width);
        let (rows, gap) = match fitting {
            Some(gap) => (&aligned, gap),
            None => {
                let gap = GAPS.into_iter().find(|gap| self.width(&self.rows, *gap) <= width);
                (&self.rows, gap.unwrap_or(GAPS[GAPS.len() - 1]))
            }
        };
        let widths = self.widths(rows);
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
        for row in heading_rows.chain(rows.iter().cloned()) {
            let mut line = String::new();
            for ((cell, (_, align)), width) in row.iter().zip(&self.columns).zip(&widths) {
                let space = " ".repeat(width.saturating_sub(visible_width(cell)));
                match align {
                    Align::Left => line.extend([cell.as_str(), &space]),
                    Align::Right | Align::Point => line.extend([&space, cell.as_str()]),
                }
                line.push_str(&" ".repeat(gap));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A row where the table is too wide: its name, then each figure behind its heading.
    fn on_lines(&self, row: &[String], width: usize) -> String {
        let mut pieces: Vec<String> = Vec::new();
        let figures = self.columns.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
        for ((heading, _), cell) in figures {
            match (heading.is_empty(), pieces.last_mut()) {
                (true, Some(piece)) => piece.extend([" ", cell]),
                (true, None) => pieces.push(cell.clone()),
                (false, _) => pieces.push(format!("{heading} {cell}")),
            }
        }
        let name = row.first().map(|name| format!("{name}  ")).unwrap_or_default();
        flow(&name, &pieces, " · ", width, 4)
    }

    /// The rows with their figures on their decimal points.
    fn aligned(&self) -> Vec<Vec<String>> {
        let mut rows = self.rows.clone();
        for (at, (_, align)) in self.columns.iter().enumerate() {
            if *align == Align::Point {
                let column: Vec<String> = rows.iter().map(|row| row[at].clone()).collect();
                for (row, cell) in rows.iter_mut().zip(on_points(&column)) {
                    row[at] = cell;
                }
            }
        }
        rows
    }

    fn width(&self, rows: &[Vec<String>], gap: usize) -> usize {
        self.widths(rows).iter().sum::<usize>() + gap * self.columns.len().saturating_sub(1)
    }

    fn widths(&self, rows: &[Vec<String>]) -> Vec<usize> {
        let heading = |(heading, _): &(String, Align)| {
            heading_lines(heading).iter().map(|line| visible_width(line)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.columns.iter().map(heading).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(visible_width(cell));
            }
        }
        widths
    }
}

/// Width on a terminal, without escape sequences (`ESC [ … m`).
pub(crate) fn visible_width(text: &str) -> usize {
    without_escapes(text).chars().map(|next| next.width().unwrap_or(0)).sum()
}

/// `first` and then the pieces, separated, on lines of at most `width`; later lines are indented by `indent`.
/// Only a piece that is wider than a line is broken, at its spaces.
pub(crate) fn flow(first: &str, pieces: &[String], separator: &str, width: usize, indent: usize) -> String {
    let mut lines = vec![first.to_owned()];
    let mut fresh = true;
    // What stands at the end of a line that another one follows.
    let end = visible_width(separator.trim_end());
    for (at, piece) in pieces.iter().enumerate() {
        let end = if at + 1 < pieces.len() { end } else { 0 };
        if piece.contains(' ') && indent + visible_width(piece) > width {
            let mut begun = lines.pop().unwrap_or_default();
            if !fresh {
                lines.push(begun + separator.trim_end());
                begun = " ".repeat(indent);
            }
            let broken = flow(&begun, &parts(piece), " ", width, indent);
            lines.extend(broken.lines().map(str::to_owned));
            fresh = false;
            continue;
        }
        let Some(line) = lines.last_mut() else { break };
        let joint = if fresh { "" } else { separator };
        if !fresh && visible_width(line) + visible_width(joint) + visible_width(piece) + end > width {
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

/// What a piece that is wider than a line is broken into: its words, or else a number and its unit.
fn parts(piece: &str) -> Vec<String> {
    let words = words(piece);
    if words.len() > 1 { words } else { piece.split_whitespace().map(str::to_owned).collect() }
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

/// The cells of a column with the decimal points of their first figures below each other, those of their second ones, and so on. All but
/// empty cells are then as wide as the column.
fn on_points(cells: &[String]) -> Vec<String> {
    let cells: Vec<Vec<String>> = cells.iter().map(|cell| figures(cell)).collect();
    let places = cells.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |place: usize| {
        let with_word = cells.iter().filter(|cell| cell.len() > place);
        let of = |cell: &Vec<String>| {
            let (left, right) = sides(&cell[place], place);
            // What ends early may extend below what others have to its right.
            let ends_early = cell.len() == place + 1 && cell.len() < places;
            (left, if ends_early { 0 } else { right })
        };
        with_word.map(of).fold((0, 0), |most, (left, right)| (most.0.max(left), most.1.max(right)))
    };
    let columns: Vec<(usize, usize)> = (0..places).map(width_of).collect();
    let aligned = |cell: &Vec<String>| {
        let mut line = String::new();
        for (place, (word, column)) in cell.iter().zip(&columns).enumerate() {
            let (left, right) = sides(word, place);
            let gap = usize::from(place > 0) + column.0 - left;
            line.push_str(&" ".repeat(gap));
            line.push_str(word);
            line.push_str(&" ".repeat(column.1.saturating_sub(right)));
        }
        line
    };
    let lines: Vec<String> = cells.iter().map(aligned).collect();
    let whole = lines.iter().map(|line| visible_width(line)).max().unwrap_or(0);
    let filled = |line: String| {
        let space = if line.is_empty() { 0 } else { whole - visible_width(&line) };
        line + &" ".repeat(space)
    };
    lines.into_iter().map(filled).collect()
}

/// The words of a cell; an interval is one of them, which stands on the point of its lower end.
fn figures(cell: &str) -> Vec<String> {
    let mut figures: Vec<String> = Vec::new();
    for word in words(cell) {
        match figures.last_mut() {
            Some(interval) if interval.contains('[') && interval.ends_with(',') => {
                interval.extend([" ", &word])
            }
            _ => figures.push(word),
        }
    }
    figures
}

/// How much of a word is left of its decimal point, and how much is right of where that is or would be. A word without digits stands
/// left of it in the first place, and right of it after a figure.
fn sides(word: &str, place: usize) -> (usize, usize) {
    let plain = without_escapes(word);
    let width = visible_width(&plain);
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(first) = plain.find(is_digit) else {
        return if place == 0 { (width, 0) } else { (0, width) };
    };
    let in_number = |at: usize, c: char| is_digit(c) || c == ',' && plain[at + 1..].starts_with(is_digit);
    let end = plain.char_indices().find(|(at, c)| *at >= first && !in_number(*at, *c));
    let left = visible_width(&plain[..end.map_or(plain.len(), |(at, _)| at)]);
    (left, width - left)
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next == '\u{1b}' {
            chars.by_ref().find(|end| *end == 'm');
        } else {
            plain.push(next);
        }
    }
    plain
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
    fn a_number_that_leaves_its_unit_no_room_is_broken_from_it() {
        let name = "x".repeat(90);
        assert_eq!(wrap("", &format!("of {name}1 ms"), 80, 2), format!("of\n  {name}1\n  ms\n"));
        // What looks like one number with many units.
        let wide = wrap("", &format!("{name}1 ms1 s1 ms"), 80, 2);
        assert_eq!(wide.split_whitespace().count(), 4, "{wide}");
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
        let tight = table.render(table.least_width());
        assert!(tight.lines().all(|line| visible_width(line) <= table.least_width()), "{tight}");
        let narrow = table.render(table.least_width() - 1);
        assert_eq!(
            narrow,
            "p50  a heading of many\n    words 61.2 µs ·\n    verdict \u{1b}[31mslower\u{1b}[0m\n"
        );
    }

    #[test]
    fn figures_stand_on_their_decimal_points() {
        let mut table = Table::new(vec![(String::new(), Align::Left), ("pod".to_owned(), Align::Point)]);
        for (name, cell) in [
            ("p50", "+4.6 ±1.4 ▲"),
            ("p99", "\u{1b}[33m+38 ±135 ?\u{1b}[0m"),
            ("count", "−0.002 ±0.002 ="),
            ("size", "12.0 MiB"),
            ("ends", "[−0.13, +24]"),
            ("rate", "2,009/s"),
            ("none", "–"),
            ("empty", ""),
        ] {
            table.push(vec![name.to_owned(), cell.to_owned()]);
        }
        let text = table.render(80);
        let shown = without_escapes(&text);
        let expected = [
            "                         pod",
            "p50        +4.6     ±1.4   ▲",
            "p99       +38     ±135     ?",
            "count      −0.002   ±0.002 =",
            "size       12.0 MiB",
            "ends      [−0.13, +24]",
            "rate    2,009/s",
            "none        –",
            "empty",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "\n{shown}");
    }

    #[test]
    fn points_are_not_aligned_where_that_would_take_too_much_room() {
        let mut table = Table::new(vec![(String::new(), Align::Left), (String::new(), Align::Point)]);
        table.push(vec!["a".to_owned(), "1,234,567".to_owned()]);
        table.push(vec!["b".to_owned(), "0.123456".to_owned()]);
        assert_eq!(table.render(13), "\na   1,234,567\nb    0.123456\n");
    }
}
