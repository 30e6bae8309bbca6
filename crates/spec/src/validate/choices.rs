//! Values that may be left out, and values that are one of a few words.

use crate::draft::Text;
use crate::error::{Complaint, Names, Problems, suggestion};

/// Sets a field to what was written, if anything valid was.
pub(super) fn set<T>(
    field: &mut T,
    text: &Option<Text>,
    problems: &mut Problems,
    parse: impl FnOnce(&str) -> Result<T, Complaint>,
) {
    if let Some(value) = text.as_ref().and_then(|text| text.read(problems, parse)) {
        *field = value;
    }
}

/// The value that stands beside `text`; `what` begins the complaint: "an arrival process".
pub(super) fn choice<T: Copy>(text: &str, what: &str, choices: &[(&str, T)]) -> Result<T, Complaint> {
    let word = text.trim();
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let complaint =
        Complaint::new(format!("`{word}` is not {what}")).label(format!("one of {}", Names(&names)));
    Err(complaint.help(suggestion(word, &names)))
}

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, Complaint> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => {
            Err(Complaint::new(format!("`{other}` is neither true nor false")).help("write true or false"))
        }
    }
}
