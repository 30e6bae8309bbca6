//! The author's own commands around the measuring.

use std::process::{Command, Stdio};

use loadline_model::printable;

/// Lines of a command's output that an error shows.
const SHOWN_LINES: usize = 20;

/// Why a command did not do its part.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// It could not be started.
    #[error("{hook}: cannot start {program}: {source}")]
    Start {
        /// `setup`, `prepare` or `cleanup`.
        hook: &'static str,
        /// Its first word.
        program: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It failed.
    #[error("{hook}: {program} ended with {status}{output}")]
    Failed {
        /// `setup`, `prepare` or `cleanup`.
        hook: &'static str,
        /// Its first word.
        program: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The end of its output, each line indented.
        output: String,
    },
}

/// Runs a command to its end; nothing where it has no words.
///
/// # Errors
/// When it cannot be started, or fails.
pub fn run(hook: &'static str, words: &[String]) -> Result<(), HookError> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let ended = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let ended = ended.map_err(|source| HookError::Start { hook, program: program.clone(), source })?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    let shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].iter();
    let output = shown.map(|line| format!("\n    {}", printable(line))).collect();
    Err(HookError::Failed { hook, program: program.clone(), status: ended.status, output })
}
