//! Names in CSV files, which spreadsheets open: what begins like a formula would be computed (CWE-1236).

use loadline_model::printable;

/// The text as a field of a CSV file: in front of what begins like a formula stands an apostrophe, with which spreadsheets mark text.
pub(crate) fn csv_text(text: &str) -> String {
    let text = printable(text);
    let begins_a_formula = text.starts_with(['=', '+', '-', '@', '\t']);
    format!("{}{text}", if begins_a_formula { "'" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_begins_a_formula() {
        assert_eq!(csv_text("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv_text("@SUM(1)"), "'@SUM(1)");
        assert_eq!(csv_text("orders on pod"), "orders on pod");
        assert_eq!(csv_text("a\u{1b}[2J"), "a\\u{1b}[2J");
    }
}
