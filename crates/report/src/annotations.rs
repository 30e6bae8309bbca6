//! The checks of a run as annotations of GitHub Actions: workflow commands, a line each
//! (docs.github.com/actions/reference/workflows-and-actions/workflow-commands).

use std::io::Write;

use loadline_model::printable;
use loadline_model::result::RunResult;

use crate::ReportError;
use crate::checks::{Outcome, checks};

/// An error for each check that failed or was not judged, a notice for each that is open.
///
/// # Errors
/// When `out` does not take it.
pub fn annotations(result: &RunResult, out: &mut dyn Write) -> Result<(), ReportError> {
    for check in &checks(result) {
        if let Some(command) = command(check.outcome) {
            let title = format!("loadline {}", check.outcome.word());
            let text = format!("{}: {}", check.about(), check.found.join("; "));
            writeln!(
                out,
                "::{command} title={}::{}",
                escaped(&title, &[(':', "%3A"), (',', "%2C")]),
                escaped(&text, &[])
            )?;
        }
    }
    out.flush()?;
    Ok(())
}

fn command(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Fails | Outcome::NotMeasured | Outcome::NotTrusted => Some("error"),
        Outcome::Open | Outcome::NotComparable => Some("notice"),
        Outcome::Passes => None,
    }
}

/// A text that cannot end its command: with its percent signs and line breaks spelt as the runner reads them, and what else ends a property.
fn escaped(text: &str, also: &[(char, &str)]) -> String {
    let spelt = printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    also.iter().fold(spelt, |spelt, (of, code)| spelt.replace(*of, code))
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_ends_its_command_or_begins_another() {
        let text = "by > 5%\n::set-env name=PATH::/tmp";
        let spelt = escaped(text, &[]);
        assert!(!spelt.contains('\n') && spelt.starts_with("by > 5%25"), "{spelt}");
        assert_eq!(escaped("a: b, c", &[(':', "%3A"), (',', "%2C")]), "a%3A b%2C c");
    }
}
