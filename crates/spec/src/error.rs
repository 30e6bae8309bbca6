//! What is wrong with a file or a command line: each problem with its place and a way out.
//!
//! All independent problems are reported together, so that a file is corrected once and not one line at a
//! time.

use std::fmt;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};

/// Everything that is wrong with one experiment file or command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct SpecError {
    problems: Vec<Problem>,
    file: Option<File>,
}

/// The text that the problems' spans count in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    name: String,
    text: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// What is wrong, in one clause.
    pub message: String,
    /// A remark under the caret.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Where a value was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Bytes of the experiment file.
    Yaml(Range<usize>),
    /// A flag of the command line.
    Flag {
        /// With its dashes: `--rate`.
        name: &'static str,
        /// As it was typed; empty for a switch and for a flag that is missing.
        value: String,
    },
    /// The file as a whole.
    #[default]
    File,
    /// The command line as a whole.
    CommandLine,
}

/// What is wrong with a text, wherever it was written; [`Complaint::at`] makes it a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Complaint {
    /// What is wrong, in one clause.
    pub message: String,
    /// A remark under the caret.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Complaint {
    /// A complaint of an error whose message ends with a colon and what to do.
    pub fn of(error: impl ToString) -> Complaint {
        let message = error.to_string();
        match message.rsplit_once(": ") {
            Some((message, help)) => Complaint::new(message).help(help),
            None => Complaint::new(message),
        }
    }

    /// A complaint with neither label nor help.
    pub fn new(message: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), label: None, help: None }
    }

    /// Adds the remark under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Complaint {
        self.label = Some(label.into());
        self
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Complaint {
        self.help = Some(help.into());
        self
    }

    /// Gives the complaint its place.
    pub fn at(self, place: &Place) -> Problem {
        Problem { place: place.clone(), message: self.message, label: self.label, help: self.help }
    }
}

impl SpecError {
    /// Problems of a command line, or of a file that could not be read as text.
    pub fn without_text(problems: Vec<Problem>) -> SpecError {
        SpecError { problems, file: None }
    }

    /// Problems of the file `name` that contains `text`.
    pub(crate) fn in_file(problems: Vec<Problem>, name: &str, text: &str) -> SpecError {
        SpecError { problems, file: Some(File { name: name.to_owned(), text: text.to_owned() }) }
    }

    /// The problems in the order they were found; never empty.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The problems as people read them: message, file:line:column, source line with carets, and help; with ANSI
    /// colours if asked for. No line break at the end.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let rendered: Vec<String> =
            self.problems.iter().map(|problem| renderer.render(&[self.group(problem)])).collect();
        rendered.join("\n\n")
    }

    fn group<'a>(&'a self, problem: &'a Problem) -> Group<'a> {
        let mut group = Group::with_title(Level::ERROR.primary_title(one_line(&problem.message)));
        let label = problem.label.as_deref().map(one_line);
        match (&problem.place, &self.file) {
            (Place::Yaml(span), Some(file)) => {
                let annotation = AnnotationKind::Primary.span(visible_span(&file.text, span)).label(label);
                let snippet = Snippet::source(file.text.as_str()).path(file.name.as_str());
                group = group.element(snippet.annotation(annotation));
            }
            (Place::Flag { name, value }, _) => {
                let line = one_line(format!("{name} {value}").trim_end());
                let start = if value.trim().is_empty() { 0 } else { name.len() + 1 };
                let annotation = AnnotationKind::Primary.span(start..line.len()).label(label);
                group = group.element(Snippet::source(line).line_numbering(false).annotation(annotation));
            }
            (_, Some(file)) => {
                group = group.element(annotate_snippets::Origin::path(file.name.as_str()));
            }
            _ => {}
        }
        match &problem.help {
            Some(help) => group.element(Level::HELP.message(one_line(help))),
            None => group,
        }
    }
}

/// The text with its line breaks and other control characters escaped, so that it cannot rearrange the terminal.
fn one_line(text: &str) -> String {
    let spelt_out = text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default())
        } else {
            line.push(c)
        }
        line
    });
    normalize_untrusted_str(&spelt_out)
}

/// A span that the renderer can underline: inside the text, on character boundaries, on one line and not empty where
/// the line is not.
fn visible_span(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = floor_boundary(text, span.start);
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |length| start + length);
    let end = floor_boundary(text, span.end).min(line_end);
    // Parsers include what follows a token in its span.
    let end = start + text[start..end.max(start)].trim_end().len();
    if end > start {
        start..end
    } else {
        start..text[start..line_end].chars().next().map_or(start, |first| start + first.len_utf8())
    }
}

/// The last character boundary of `text` that is not after `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Collects problems while the rest is still being read.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a complaint at its place.
    pub fn add(&mut self, place: &Place, complaint: Complaint) {
        self.0.push(complaint.at(place));
    }

    /// How many problems there are so far.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value, or `None` and the complaint noted at its place.
    pub fn note<T>(&mut self, place: &Place, result: Result<T, Complaint>) -> Option<T> {
        result.map_err(|complaint| self.add(place, complaint)).ok()
    }

    /// The value if nothing was wrong. What is wrong with a value that stands for several, in a matrix, is said once.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        let mut problems: Vec<Problem> = Vec::new();
        for problem in self.0 {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        match value {
            Some(value) if problems.is_empty() => Ok(value),
            _ => Err(problems),
        }
    }
}

/// "did you mean x?" for a name close to `word`, the list of known names otherwise.
pub(crate) fn suggestion(word: &str, known: &[&str]) -> String {
    let close = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&word.to_lowercase(), &name.to_lowercase()), name))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match close {
        // Jaro-Winkler above 0.8 takes a slip of one or two letters in words as short as ours.
        Some((score, name)) if score > 0.8 => format!("did you mean `{name}`?"),
        _ => format!("expected one of: {}", Names(known)),
    }
}

/// What is designed but not in this version.
pub(crate) fn not_supported_yet(what: &str) -> Complaint {
    Complaint::new(format!("`{what}` is not supported yet"))
        .help("supported platforms are host, pod, container, docker, kubernetes, local and external")
}

/// Names for a sentence: `a, b, c`.
pub(crate) struct Names<'a>(pub(crate) &'a [&'a str]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slip_of_the_finger_is_answered_with_the_name_meant() {
        assert_eq!(suggestion("platfroms", &["platforms", "plan"]), "did you mean `platforms`?");
        assert_eq!(suggestion("zebra", &["platforms", "plan"]), "expected one of: platforms, plan");
    }

    #[test]
    fn colour_is_used_only_when_asked_for() {
        let error = SpecError::without_text(vec![Complaint::new("no").at(&Place::CommandLine)]);
        assert!(!error.render(false).contains('\u{1b}'));
        assert!(error.render(true).contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn any_span_in_any_text_is_rendered(text in "(?s).{0,60}", start in 0usize..80, length in 0usize..80) {
            let problem = Complaint::new("x").label("y").at(&Place::Yaml(start..start + length));
            let rendered = SpecError::in_file(vec![problem], "f.yaml", &text).render(false);
            prop_assert!(rendered.starts_with("error: x"));
        }

        #[test]
        fn any_flag_value_is_rendered(value in "(?s).{0,60}") {
            let problem = Complaint::new("x").at(&Place::Flag { name: "--rate", value });
            prop_assert!(SpecError::without_text(vec![problem]).render(false).contains("--rate"));
        }
    }
}
