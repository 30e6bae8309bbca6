//! Reading `status=2xx`, `header:NAME~TEXT`, `body=TEXT` and the like.

use std::sync::Arc;

use memchr::memmem::Finder;

use super::{BodyCheck, Checks, Expectation, HeaderCheck, SUCCESS, ValueCheck};

/// Why a text is no check. The message ends with what to write.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ExpectationError {
    /// It begins like none of the checks.
    #[error(
        "`{0}` is no check: write status=200, header:NAME, header:NAME=VALUE, header:NAME~TEXT, body=TEXT or body~TEXT"
    )]
    Unknown(String),
    /// No such status, or no such range.
    #[error("`{0}` is no status: write one from 100 to 599, as status=200, status=200..299 or status=2xx")]
    Status(String),
    /// The end of a range lies before its beginning.
    #[error("`{0}` is an empty range of statuses: write the smaller one first, as status=200..299")]
    EmptyRange(String),
    /// What stands after `header:` is no name.
    #[error("`{0}` names no header: write header:NAME, as header:content-type~json")]
    HeaderName(String),
    /// There is nothing to look for.
    #[error("`{0}` does not say what must be contained: write it after the ~")]
    NothingToFind(String),
}

impl Expectation {
    /// Reads checks, all of which must hold; of several statuses a response must have one. Without a status 200 to 299 is
    /// expected. A response to HEAD has no body for a check to hold of.
    ///
    /// `status=200`, `status=200..299`, `status=2xx`; `header:NAME` (there is one), `header:NAME=VALUE` (its value, white
    /// space around it aside), `header:NAME~TEXT` (its value contains TEXT); `body=TEXT`, `body~TEXT`.
    ///
    /// # Errors
    /// With the first text that is no check.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Expectation, ExpectationError> {
        let (mut statuses, mut checks) = (Vec::new(), Checks::default());
        for text in texts {
            let text = text.as_ref();
            if let Some(expected) = text.strip_prefix("status=") {
                statuses.push(status(expected.trim())?);
            } else if let Some(rest) = text.strip_prefix("header:") {
                checks.headers.push(header(text, rest)?);
            } else if let Some(expected) = text.strip_prefix("body=") {
                checks.bodies.push(BodyCheck::Equal(expected.as_bytes().to_owned()));
            } else if let Some(expected) = text.strip_prefix("body~") {
                checks.bodies.push(BodyCheck::Contains(finder(text, expected)?));
            } else {
                return Err(ExpectationError::Unknown(text.to_owned()));
            }
        }
        if statuses.is_empty() {
            statuses.push(SUCCESS);
        }
        Ok(Expectation { statuses, checks: Arc::new(checks) })
    }
}

fn status(text: &str) -> Result<(u16, u16), ExpectationError> {
    let refuse = || ExpectationError::Status(text.to_owned());
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().map_err(|_| refuse())?;
        return if (1..=5).contains(&class) { Ok((class * 100, class * 100 + 99)) } else { Err(refuse()) };
    }
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let one = |text: &str| text.trim().parse().ok().filter(|status| (100..=599).contains(status));
    let (from, to) = (one(from).ok_or_else(refuse)?, one(to).ok_or_else(refuse)?);
    if from <= to { Ok((from, to)) } else { Err(ExpectationError::EmptyRange(text.to_owned())) }
}

fn header(text: &str, rest: &str) -> Result<HeaderCheck, ExpectationError> {
    // A `~` may stand in a name (RFC 9110, section 5.6.2), but in none that is in use.
    let end = rest.find(['=', '~']).unwrap_or(rest.len());
    let name = rest[..end].trim();
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic() || c == ':') {
        return Err(ExpectationError::HeaderName(text.to_owned()));
    }
    let value = match rest[end..].chars().next() {
        None => ValueCheck::Present,
        Some('=') => ValueCheck::Equal(rest[end + 1..].trim().as_bytes().to_owned()),
        Some(_) => ValueCheck::Contains(finder(text, &rest[end + 1..])?),
    };
    Ok(HeaderCheck { name: name.to_owned(), value })
}

fn finder(text: &str, expected: &str) -> Result<Box<Finder<'static>>, ExpectationError> {
    if expected.is_empty() {
        return Err(ExpectationError::NothingToFind(text.to_owned()));
    }
    Ok(Box::new(Finder::new(expected).into_owned()))
}
