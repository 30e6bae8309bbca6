//! The requests that failed, by cell and kind.

use loadline_model::result::RunResult;
use loadline_model::{ErrorKind, counted_in_words};

use crate::figures::count;
use crate::groups;
use crate::words::Words;

/// More cells, or kinds of a cell, than these are counted, not named.
const MOST_CELLS: usize = 5;
const MOST_KINDS: usize = 4;

/// `Failed requests: pod GET /a: 40 × 401, 2 timed out; host 1 reset.`
pub(crate) fn sentence(result: &RunResult) -> Option<String> {
    let failing: Vec<_> = result.cells.iter().filter(|cell| !cell.errors.is_empty()).collect();
    let mut pieces: Vec<String> = failing
        .iter()
        .take(MOST_CELLS)
        .map(|cell| {
            let mut kinds: Vec<_> = cell.errors.iter().collect();
            kinds.sort_by(|(_, left), (_, right)| right.cmp(left));
            let named = kinds.iter().take(MOST_KINDS).map(|(kind, count)| counted(kind, **count));
            let others = kinds.len().saturating_sub(MOST_KINDS);
            let others = (others > 0).then(|| format!("and {others} more"));
            let kinds: Vec<String> = named.chain(others).collect();
            format!("{} {}", groups::cell_name(result, cell), kinds.join(", "))
        })
        .collect();
    let others = failing.len().saturating_sub(MOST_CELLS);
    pieces.extend((others > 0).then(|| format!("and {others} more")));
    (!pieces.is_empty()).then(|| format!("Failed requests: {}.", pieces.join("; ")))
}

/// `GET /a: 40 × 401`, `2 timed out`
fn counted(kind: &str, times: u64) -> String {
    match ErrorKind::ALL.into_iter().find(|known| known.name() == kind) {
        Some(known) => format!("{} {}", count(times), known.words()),
        None => counted_in_words(kind, times),
    }
}
