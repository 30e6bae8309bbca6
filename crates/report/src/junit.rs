//! The checks of a run as JUnit XML, which CI servers show: a test suite for the run, a test case for each condition and for each claim
//! that must hold (the schema that readers agree on: github.com/testmoapp/junitxml).

use std::borrow::Cow;
use std::io::{self, Write};

use loadline_model::printable;
use loadline_model::result::RunResult;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::ReportError;
use crate::checks::{Check, Outcome, Subject, checks};

/// The checks of a run as JUnit XML, ending with a line break.
///
/// # Errors
/// When `out` does not take it.
pub fn junit(result: &RunResult, out: &mut dyn Write) -> Result<(), ReportError> {
    let checks = checks(result);
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites").write_inner_content(|xml| suite(result, &checks, xml))?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

fn suite<W: Write>(result: &RunResult, checks: &[Check], xml: &mut Writer<W>) -> io::Result<()> {
    let run = &result.run;
    let count = |of: fn(Element) -> bool| {
        checks.iter().filter(|check| element(check.outcome).is_some_and(of)).count().to_string()
    };
    let seconds = run.time_spent.map(|spent| format!("{:.3}", spent.total_s));
    let mut suite = xml
        .create_element("testsuite")
        .with_attribute(("name", allowed(&run.name)))
        .with_attribute(("tests", checks.len().to_string().as_str()))
        .with_attribute(("failures", count(|element| element == Element::Failure).as_str()))
        .with_attribute(("errors", count(|element| element == Element::Error).as_str()))
        .with_attribute(("skipped", count(|element| element == Element::Skipped).as_str()))
        .with_attribute(("timestamp", allowed(&run.started)));
    if let Some(seconds) = &seconds {
        suite = suite.with_attribute(("time", seconds.as_str()));
    }
    if checks.is_empty() {
        return suite.write_empty().map(drop);
    }
    suite.write_inner_content(|xml| checks.iter().try_for_each(|check| case(check, xml))).map(drop)
}

fn case<W: Write>(check: &Check, xml: &mut Writer<W>) -> io::Result<()> {
    let subject = match check.subject {
        Subject::Condition => "condition",
        Subject::Claim => "claim",
    };
    let found = check.found.join("\n");
    let (text, found) = (allowed(&check.text), allowed(&found));
    let class = format!("loadline.{subject}");
    let case =
        xml.create_element("testcase").with_attribute(("name", text)).with_attribute(("classname", &*class));
    let content = |xml: &mut Writer<W>| {
        let Some(element) = element(check.outcome) else {
            xml.create_element("system-out").write_text_content(BytesText::new(&found))?;
            return Ok(());
        };
        // An attribute is one line: its line breaks would be read as spaces.
        let message = allowed(&check.found.join("; ")).into_owned();
        xml.create_element(element.name())
            .with_attribute(("message", message.as_str()))
            .with_attribute(("type", kind(check.outcome)))
            .write_text_content(BytesText::new(&found))?;
        Ok(())
    };
    case.write_inner_content(content).map(drop)
}

/// What a test case that did not pass holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Failure,
    Error,
    Skipped,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Element::Failure => "failure",
            Element::Error => "error",
            Element::Skipped => "skipped",
        }
    }
}

/// What could not be judged is an error: a reader of the file alone would take it for passed.
fn element(outcome: Outcome) -> Option<Element> {
    match outcome {
        Outcome::Fails => Some(Element::Failure),
        Outcome::NotMeasured | Outcome::NotTrusted => Some(Element::Error),
        Outcome::NotComparable => Some(Element::Skipped),
        Outcome::Passes | Outcome::Open => None,
    }
}

/// The kind of a failure or an error.
fn kind(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NotMeasured => "not measured",
        Outcome::NotTrusted => "not trusted",
        Outcome::NotComparable => "not comparable",
        Outcome::Fails | Outcome::Passes | Outcome::Open => "fails",
    }
}

/// The text made printable, without the two other characters that XML 1.0 forbids even when escaped (www.w3.org/TR/xml, 2.2).
fn allowed(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    let is_forbidden = |next: char| matches!(next, '\u{fffe}' | '\u{ffff}');
    match text.contains(is_forbidden) {
        true => text.replace(is_forbidden, "\u{fffd}").into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_spelt_out_or_replaced_and_the_rest_stays() {
        assert_eq!(allowed("a\u{1b}[31m\0\u{ffff}b"), "a\\u{1b}[31m\\u{0}\u{fffd}b");
        assert_eq!(allowed("a\tb\n <ü&"), "a\tb\n <ü&");
    }
}
