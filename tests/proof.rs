//! Rows of `docs/proof.md`, written by the tests of the profile `prove`: what was planted or promised, what was found, and how sure that
//! is. `make prove` collects the rows; without it they are printed and that is all. Each crate whose tests prove something includes this.

use std::fs::File;
use std::io::Write;

/// Where `make prove` collects the rows, one a line, columns apart by tabs.
const ROWS: &str = "LOADLINE_PROOF_ROWS";

/// One row.
pub struct Row {
    pub what: String,
    /// What was planted or promised.
    pub expected: String,
    pub found: String,
    /// How sure that is: an interval, a range, how much was measured.
    pub interval: String,
    pub holds: bool,
}

/// Notes down all rows, and fails if what one of them says does not hold.
pub fn prove(rows: &[Row]) {
    let lines: String = rows.iter().map(line).collect();
    print!("{lines}");
    if let Some(file) = std::env::var_os(ROWS) {
        let mut file = File::options().create(true).append(true).open(file).expect("the file of make prove");
        // In one piece: others write to it, too.
        file.write_all(lines.as_bytes()).expect("the rows");
    }
    assert!(rows.iter().all(|row| row.holds), "not all of it holds:\n{lines}");
}

fn line(row: &Row) -> String {
    let verdict = if row.holds { "holds" } else { "fails" };
    [&row.what, &row.expected, &row.found, &row.interval, verdict].join("\t") + "\n"
}
