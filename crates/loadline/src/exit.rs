//! Exit codes, and errors as a user reads them.

use std::process::ExitCode;

use loadline_spec::SpecError;
use loadline_store::StoreError;

use crate::console::colour;
use crate::streams::{tell, tell_coloured};

/// How the program ends. Documented in the README; scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Measured, and to be trusted.
    Done = 0,
    /// Something failed, or a condition could not be judged; what was measured until then is kept.
    Failed = 1,
    /// Wrong usage or a bad file; nothing was started.
    Usage = 2,
    /// Measured, but the gates say not to trust it, or a part of it.
    Untrusted = 3,
    /// Measured; by figures that are to be trusted a condition holds on which the run fails, or a claim that must hold is refuted.
    Fails = 4,
    /// Ctrl-C; what was measured until then is kept.
    Interrupted = 130,
}

/// What was asked for is not possible as it was asked for.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

impl Exit {
    /// The code of an error.
    pub fn of(error: &anyhow::Error) -> Exit {
        let is_name = matches!(error.downcast_ref(), Some(StoreError::NoName(_)));
        if is_name || error.is::<SpecError>() || error.is::<UsageError>() {
            Exit::Usage
        } else {
            Exit::Failed
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Prints an error to stderr.
pub fn print_error(error: &anyhow::Error) {
    match error.downcast_ref::<SpecError>() {
        Some(spec) => tell_coloured(spec.render(colour(&std::io::stderr()))),
        None => tell(format_args!("error: {}", with_causes(error))),
    }
}

/// An error and its causes, each said once: many errors already name their cause.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_cause_is_said_once() {
        assert_eq!(
            with_causes(&anyhow!("disk full").context("can't write a.json")),
            "can't write a.json: disk full"
        );
        assert_eq!(
            with_causes(&anyhow!("refused").context("can't connect: refused")),
            "can't connect: refused"
        );
    }
}
