//! Node.js: one program; some distributions' builds read parts of its own library from files.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Runtime, ask};
use crate::error::ImageError;

/// `node_builtin_shareable_builtins` are the files that a build configured with `--shared-builtin-…-path` reads (node, configure.py).
const QUESTION: &str = "JSON.stringify({program: process.execPath, \
    files: process.config.variables.node_builtin_shareable_builtins || []})";

#[derive(Deserialize)]
struct Answer {
    program: PathBuf,
    files: Vec<PathBuf>,
}

pub fn runtime(found: &Path) -> Result<Runtime, ImageError> {
    let (said, _) = ask(found, ["--print", QUESTION])?;
    let answer: Answer = serde_json::from_str(said.trim())
        .map_err(|error| ImageError::Asked { program: found.to_owned(), why: error.to_string() })?;
    let mut runtime = Runtime::alone(&answer.program)?;
    for file in answer.files.iter().filter(|file| file.is_file()) {
        runtime.tree.mirror(file)?;
    }
    Ok(runtime)
}
