//! Splitting command lines into words and joining them again, by the rules of a shell but without one.

use crate::error::Complaint;

/// The words of a command line, quotes and backslashes understood as by sh(1); nothing is expanded.
pub(super) fn split(line: &str) -> Result<Vec<String>, Complaint> {
    shlex::split(line).ok_or_else(|| {
        Complaint::new("a quote is not closed, or a backslash ends the line")
            .help("close the quote, or remove the last backslash")
    })
}

/// Words as one line that [`split`] reads back, for names and messages.
pub(super) fn join(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
