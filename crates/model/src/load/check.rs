//! What a response must be to count as a success: `status=2xx`, `header:content-type~json`, `body~ok`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One check of a response. All checks must hold; of several statuses a response must have one. Where no check is about the status, 200
/// to 299 is expected. A response to HEAD has no body for a check to hold of.
///
/// Written `status=200`, `status=200..299`, `status=2xx`; `header:NAME` (it is present), `header:NAME=VALUE` (its value, white space around
/// it aside), `header:NAME~TEXT` (its value contains TEXT); `body=TEXT`, `body~TEXT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum ResponseCheck {
    /// Its status is within these, both included.
    Status {
        /// The lowest.
        from: u16,
        /// The highest.
        to: u16,
    },
    /// It has a header.
    Header {
        /// Its name, in any case.
        name: String,
        /// What its value must be; `None`: anything.
        value: Option<TextCheck>,
    },
    /// Its body.
    Body(TextCheck),
}

/// What a text must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextCheck {
    /// Exactly this.
    Equal(String),
    /// It contains this, which is not empty.
    Contains(String),
}

/// Why a text is not a check. The message ends with what to write.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ResponseCheckError {
    /// It begins with none of the subjects of a check.
    #[error(
        "`{0}` is not a check: write status=200, header:NAME, header:NAME=VALUE, header:NAME~TEXT, body=TEXT or body~TEXT"
    )]
    Unknown(String),
    /// The text after `status=` is not a status.
    #[error(
        "`{0}` is not a status: write one from 100 to 599, as in status=200, status=200..299 or status=2xx"
    )]
    Status(String),
    /// The end of a range is below its beginning.
    #[error("`{0}` is an empty range: write the smaller status first, as in status=200..299")]
    EmptyRange(String),
    /// The text after `header:` is not a name.
    #[error("`{0}` does not name a header: write header:NAME, as in header:content-type~json")]
    HeaderName(String),
    /// There is nothing to search for.
    #[error("`{0}` has nothing to search for: write it after the ~")]
    NothingToFind(String),
}

impl FromStr for ResponseCheck {
    type Err = ResponseCheckError;

    fn from_str(text: &str) -> Result<ResponseCheck, ResponseCheckError> {
        if let Some(expected) = text.strip_prefix("status=") {
            status(expected.trim())
        } else if let Some(rest) = text.strip_prefix("header:") {
            header(text, rest)
        } else if let Some(expected) = text.strip_prefix("body=") {
            Ok(ResponseCheck::Body(TextCheck::Equal(expected.to_owned())))
        } else if let Some(expected) = text.strip_prefix("body~") {
            Ok(ResponseCheck::Body(contains(text, expected)?))
        } else {
            Err(ResponseCheckError::Unknown(text.to_owned()))
        }
    }
}

fn status(text: &str) -> Result<ResponseCheck, ResponseCheckError> {
    let refuse = || ResponseCheckError::Status(text.to_owned());
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().map_err(|_| refuse())?;
        return if (1..=5).contains(&class) {
            Ok(ResponseCheck::Status { from: class * 100, to: class * 100 + 99 })
        } else {
            Err(refuse())
        };
    }
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let one = |text: &str| text.trim().parse().ok().filter(|status| (100..=599).contains(status));
    let (from, to) = (one(from).ok_or_else(refuse)?, one(to).ok_or_else(refuse)?);
    if from <= to {
        Ok(ResponseCheck::Status { from, to })
    } else {
        Err(ResponseCheckError::EmptyRange(text.to_owned()))
    }
}

fn header(text: &str, rest: &str) -> Result<ResponseCheck, ResponseCheckError> {
    // A `~` is allowed in a name (RFC 9110, section 5.6.2), but no name in use has one.
    let end = rest.find(['=', '~']).unwrap_or(rest.len());
    let name = rest[..end].trim();
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic() || c == ':') {
        return Err(ResponseCheckError::HeaderName(text.to_owned()));
    }
    let value = match rest[end..].chars().next() {
        None => None,
        Some('=') => Some(TextCheck::Equal(rest[end + 1..].trim().to_owned())),
        Some(_) => Some(contains(text, &rest[end + 1..])?),
    };
    Ok(ResponseCheck::Header { name: name.to_owned(), value })
}

fn contains(text: &str, expected: &str) -> Result<TextCheck, ResponseCheckError> {
    match expected {
        "" => Err(ResponseCheckError::NothingToFind(text.to_owned())),
        expected => Ok(TextCheck::Contains(expected.to_owned())),
    }
}

impl fmt::Display for ResponseCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResponseCheck::Status { from, to } if from == to => write!(f, "status={from}"),
            ResponseCheck::Status { from, to } => write!(f, "status={from}..{to}"),
            ResponseCheck::Header { name, value: None } => write!(f, "header:{name}"),
            ResponseCheck::Header { name, value: Some(value) } => write!(f, "header:{name}{value}"),
            ResponseCheck::Body(text) => write!(f, "body{text}"),
        }
    }
}

impl fmt::Display for TextCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextCheck::Equal(text) => write!(f, "={text}"),
            TextCheck::Contains(text) => write!(f, "~{text}"),
        }
    }
}

impl TryFrom<String> for ResponseCheck {
    type Error = ResponseCheckError;

    fn try_from(text: String) -> Result<ResponseCheck, ResponseCheckError> {
        text.parse()
    }
}

impl From<ResponseCheck> for String {
    fn from(check: ResponseCheck) -> String {
        check.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_check_is_printed_as_it_can_be_written() {
        for (text, printed) in [
            ("status=200", "status=200"),
            ("status= 2xx", "status=200..299"),
            ("status=200 .. 204", "status=200..204"),
            ("header: content-type ", "header:content-type"),
            ("header:x= 1 ", "header:x=1"),
            ("header:x~a=b", "header:x~a=b"),
            ("body= a ", "body= a "),
            ("body~=", "body~="),
        ] {
            let check: ResponseCheck = text.parse().unwrap();
            assert_eq!(check.to_string(), printed, "{text}");
            assert_eq!(printed.parse(), Ok(check), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_what_is_read_is_read_back(text in "(status=|header:|body=|body~)?.{0,20}") {
            if let Ok(check) = text.parse::<ResponseCheck>() {
                prop_assert_eq!(check.to_string().parse(), Ok(check));
            }
        }
    }
}
