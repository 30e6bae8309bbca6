//! One row of `docs/proof.md`, written by a test of the profile `prove`: what was planted or promised, what was found, and how sure that
//! is. `make prove` collects the rows; without it they are printed and that is all. Each crate whose tests prove something includes this.

use std::fs::File;
use std::io::Write;

/// Where `make prove` collects the rows, one a line, columns apart by tabs.
const ROWS: &str = "LOADLINE_PROOF_ROWS";

/// Notes down a row, and fails if what it says does not hold.
pub fn prove(what: &str, expected: &str, found: &str, interval: &str, holds: bool) {
    let verdict = if holds { "holds" } else { "fails" };
    let row = [what, expected, found, interval, verdict].join("\t");
    println!("{row}");
    if let Some(rows) = std::env::var_os(ROWS) {
        let mut rows = File::options().create(true).append(true).open(rows).expect("the file of make prove");
        // In one piece: others write to it, too.
        rows.write_all(format!("{row}\n").as_bytes()).expect("a row");
    }
    assert!(holds, "{row}");
}
