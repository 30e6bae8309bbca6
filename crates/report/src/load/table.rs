//! The result of a load as a person reads it: whether to believe it, what came of it, and where the time went.

use loadline_model::result::load::LoadResult;

use super::rows::{HEADINGS, counts, distrust, ended, rows};
use crate::Style;
use crate::terminal::printable_but_colours;
use crate::text::{Align, Table};
use crate::verdict::Tone;

/// The result as text for a terminal, ending with a line break.
pub fn table(result: &LoadResult, style: &Style) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mark = Tone::Bad.paint("not to be trusted:", style.colour);
    lines.extend(distrust(result).iter().map(|sentence| format!("{mark} {sentence}")));
    lines.extend(ended(result));
    lines.push(counts(result));
    let columns = HEADINGS.map(|heading| (heading.to_owned(), Align::Right));
    let words = || std::iter::once((String::new(), Align::Left));
    let mut table = Table::new(words().chain(columns).chain(words()).collect());
    for row in rows(result) {
        let name = std::iter::once(row.name.to_owned());
        table.push(name.chain(row.figures).chain([row.meaning]).collect());
    }
    lines.extend(table.render(style.width.saturating_sub(INDENT.len())).lines().map(str::to_owned));
    let text: String = lines.into_iter().map(|line| format!("{INDENT}{line}\n")).collect();
    printable_but_colours(&text, style.colour)
}

/// Stands before each line below the head.
const INDENT: &str = "  ";
