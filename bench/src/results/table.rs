//! Markdown tables that are read as well in the file itself, and figures in them.

use crate::spread::Spread;

/// A table with padded columns; every row has as many cells as `head`.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|cell| (*cell).to_owned()).collect()];
    lines.extend(rows);
    let width = |column: usize| {
        lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
            .max(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    lines.insert(1, dashes);
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// `5.12 (5.01 … 5.30)`: each value divided by `unit`, with so many decimals.
pub fn spread(spread: Option<Spread>, unit: f64, decimals: usize) -> String {
    spread.map_or("–".to_owned(), |spread| {
        let [median, low, high] =
            [spread.median, spread.low, spread.high].map(|value| format!("{:.decimals$}", value / unit));
        format!("{median} ({low} … {high})")
    })
}

/// As [`spread`], with signs.
pub fn signed_spread(spread: Option<Spread>, unit: f64, decimals: usize) -> String {
    spread.map_or("–".to_owned(), |spread| {
        let [median, low, high] =
            [spread.median, spread.low, spread.high].map(|value| format!("{:+.decimals$}", value / unit));
        format!("{median} ({low} … {high})")
    })
}

/// `98.7 MB`
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = table(&["a", "µs"], [vec!["bb".to_owned(), "1234".to_owned()]]);
        assert_eq!(text, "| a   | µs   |\n| --- | ---- |\n| bb  | 1234 |\n");
    }

    #[test]
    fn a_spread_shows_its_ends_and_a_missing_one_a_dash() {
        let seen = Spread { median: 1500.0, low: -1000.0, high: 2250.0 };
        assert_eq!(spread(Some(seen), 1e3, 1), "1.5 (-1.0 … 2.2)");
        assert_eq!(signed_spread(Some(seen), 1e3, 2), "+1.50 (-1.00 … +2.25)");
        assert_eq!(spread(None, 1.0, 0), "–");
    }
}
