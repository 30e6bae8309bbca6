//! A request that was found fit to be sent: its placeholders resolved, each of its parts checked, for every row of the feed.

use std::sync::Arc;

use super::feed::Feed;
use super::template::{Misplaced, Part, Template, placeholder};
use super::{MixError, Request, Wire};

/// A checked request.
#[derive(Debug)]
pub struct Parsed {
    pub method: String,
    /// Value of `Host` or `:authority`.
    pub authority: Template,
    pub path: Template,
    /// Headers of its own, `Host` excepted.
    pub headers: Vec<(String, Template)>,
    pub body: Template,
    pub weight: u32,
}

/// Headers of one HTTP/1 connection, which HTTP/2 forbids (RFC 9113, section 8.2.2).
const CONNECTION_HEADERS: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "upgrade"];

impl Parsed {
    pub fn new(
        request: &Request,
        authority: &str,
        wire: Wire,
        feed: Option<&Feed>,
    ) -> Result<Parsed, MixError> {
        let checker = Checker { name: format!("{} {}", request.method, request.path), feed };
        if request.weight == 0 {
            return Err(MixError::ZeroWeight(checker.name));
        }
        if request.method.is_empty() || !request.method.bytes().all(is_token) {
            return Err(checker.forbidden("the method"));
        }
        let path = checker.path(&request.path)?;
        let mut host = None;
        let mut headers = Vec::with_capacity(request.headers.len());
        for (name, value) in &request.headers {
            if ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(MixError::OwnHeader { request: checker.name, name: name.clone() });
            }
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(checker.forbidden("a header name"));
            }
            if wire == Wire::Http2 && CONNECTION_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(MixError::NotInHttp2 { request: checker.name, name: name.clone() });
            }
            let value = checker.header_value(value)?;
            if !name.eq_ignore_ascii_case("host") {
                headers.push((name.clone(), value));
            } else if host.replace(value).is_some() {
                return Err(MixError::SecondHost(checker.name));
            }
        }
        let body = checker.template(&request.body, "the body")?;
        Ok(Parsed {
            method: request.method.clone(),
            authority: host.unwrap_or_else(|| Template::literal(authority.as_bytes())),
            path,
            headers,
            body,
            weight: request.weight,
        })
    }

    /// Whether the length of the body is said: where there is one, and where the method leads the service to expect one
    /// (RFC 9110, section 8.6).
    pub fn says_length(&self) -> bool {
        self.body.as_fixed().is_none_or(|body| !body.is_empty())
            || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH")
    }
}

/// Checks the parts of one request.
struct Checker<'a> {
    /// How the request is called in complaints.
    name: String,
    feed: Option<&'a Feed>,
}

impl Checker<'_> {
    fn forbidden(&self, what: &'static str) -> MixError {
        MixError::ForbiddenCharacter { request: self.name.clone(), what }
    }

    fn template(&self, text: &[u8], what: &'static str) -> Result<Template, MixError> {
        let request = || self.name.clone();
        Template::parse(text, self.feed).map_err(|error| match error {
            Misplaced::Unclosed => MixError::Unclosed { request: request(), what },
            Misplaced::Unknown(column) => {
                let known = self.feed.map_or(String::new(), |feed| feed.names().join(", "));
                MixError::UnknownColumn { request: request(), what, column, known }
            }
        })
    }

    /// A template that goes into the head, where braces that nothing fills are a slip and no text.
    fn head_template(&self, text: &str, what: &'static str) -> Result<Template, MixError> {
        if self.feed.is_none()
            && let Some(open) = placeholder(text.as_bytes())
            && text[open..].contains("}}")
        {
            return Err(MixError::NoFeed { request: self.name.clone(), what });
        }
        self.template(text.as_bytes(), what)
    }

    fn path(&self, text: &str) -> Result<Template, MixError> {
        let what = "the path";
        let mut path = self.head_template(text, what)?;
        for part in path.parts_mut() {
            match part {
                Part::Literal(bytes) if bytes.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) => {
                    return Err(self.forbidden(what));
                }
                Part::Literal(_) => {}
                Part::Column { column, .. } => *column = Arc::new(column.in_path()),
            }
        }
        match path.parts().first() {
            Some(Part::Column { name, column }) => {
                self.check_rows(name, column, "must begin the path with a `/`", |value| {
                    value.starts_with(b"/")
                })?;
            }
            Some(Part::Literal(bytes)) if bytes.starts_with(b"/") => {}
            _ => return Err(MixError::NoSlash(self.name.clone())),
        }
        Ok(path)
    }

    fn header_value(&self, text: &str) -> Result<Template, MixError> {
        let what = "a header value";
        let mut value = self.head_template(text.trim_matches([' ', '\t']), what)?;
        for part in value.parts_mut() {
            match part {
                Part::Literal(bytes) if !is_field_value(bytes) => return Err(self.forbidden(what)),
                Part::Literal(_) => {}
                Part::Column { name, column } => {
                    *column = Arc::new(column.trimmed());
                    let problem = "contains a character that is not allowed in a header";
                    self.check_rows(name, column, problem, is_field_value)?;
                }
            }
        }
        Ok(value)
    }

    fn check_rows(
        &self,
        name: &str,
        column: &super::feed::Column,
        problem: &'static str,
        allowed: impl Fn(&[u8]) -> bool,
    ) -> Result<(), MixError> {
        match self.feed.and_then(|feed| feed.first_not(column, allowed)) {
            Some(line) => Err(MixError::ForbiddenValue {
                request: self.name.clone(),
                column: name.to_owned(),
                line,
                problem,
            }),
            None => Ok(()),
        }
    }
}

/// No control character but the tab (RFC 9110, section 5.5).
fn is_field_value(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f)
}

/// A token character of RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
