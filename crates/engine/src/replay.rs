//! Reading a file of due times, one a line.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use loadline_model::load::{Replay, ReplayError, parse_replay};

/// Reads a file of due times.
///
/// # Errors
/// With the line that cannot be read or is out of order.
pub fn read_replay(path: &Path) -> Result<Replay, ReplayError> {
    let file = File::open(path).map_err(|source| ReplayError::Read { path: path.to_owned(), source })?;
    parse_replay(path, BufReader::new(file))
}
