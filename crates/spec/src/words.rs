//! Splitting command lines into words and joining them again, by the rules of a shell but without one.

use super::draft::{Located, Words};
use super::error::{Complaint, Place, Problems};

/// The words of a command line, quotes and backslashes understood as by sh(1); nothing is expanded.
pub(super) fn split(line: &str) -> Result<Vec<String>, Complaint> {
    shlex::split(line).ok_or_else(|| {
        Complaint::new("a quote is not closed, or a backslash ends the line")
            .help("close the quote, or put the last backslash into one")
    })
}

/// Words as one line that [`split`] reads back, for names and messages.
pub(super) fn join(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The words of either form, with the place of the whole.
pub(super) fn words(words: &Words, problems: &mut Problems) -> Option<Located<Vec<String>>> {
    let (place, value) = match words {
        Words::Line(line) => (line.place.clone(), line.read(problems, split)?),
        Words::List(list) => {
            (list.place.clone(), list.value.iter().map(|word| word.value.clone()).collect::<Vec<_>>())
        }
    };
    if let Some(complaint) = zero_byte(&value) {
        problems.add(&place, complaint);
        return None;
    }
    Some(Located { value, place })
}

/// execve(2) takes words that end with a zero byte, so none can hold one.
fn zero_byte(words: &[String]) -> Option<Complaint> {
    let word = words.iter().find(|word| word.contains('\0'))?;
    Some(Complaint::new(format!("`{word}` holds a zero byte")).help("no program can be given one"))
}

/// The place of a single word, as exact as it is known.
pub(super) fn place_of(words: &Words, at: usize) -> &Place {
    match words {
        Words::Line(line) => &line.place,
        Words::List(list) => list.value.get(at).map_or(&list.place, |word| &word.place),
    }
}
