//! Checking whether a response is what it must be to count as a success.
//!
//! [`Expectation`] is the compiled set of checks, [`Check`] what one response in the making has shown of it. Where only the status is
//! checked there is no `Check`, and headers and body are not looked at.

mod contains;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use contains::Contains;
use loadline_model::load::{ResponseCheck, ResponseCheckError, TextCheck};
use memchr::memmem::Finder;

/// What is expected of every response. Cheap to clone; the default expects a status from 200 to 299.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// From and to, both included; a response has one of them.
    statuses: Vec<(u16, u16)>,
    checks: Arc<Checks>,
}

/// What is checked besides the status.
#[derive(Debug, Default)]
struct Checks {
    headers: Vec<HeaderCheck>,
    bodies: Vec<BodyCheck>,
}

#[derive(Debug)]
struct HeaderCheck {
    name: String,
    value: ValueCheck,
}

#[derive(Debug)]
enum ValueCheck {
    /// Any value.
    Present,
    /// This one, white space around it aside.
    Equal(Vec<u8>),
    /// One with this in it.
    Contains(Box<Finder<'static>>),
}

#[derive(Debug)]
enum BodyCheck {
    Equal(Vec<u8>),
    Contains(Box<Finder<'static>>),
}

/// What of a response was not as expected; the first of these where more were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Its status.
    Status,
    /// One of its headers.
    Header,
    /// Its body.
    Body,
}

/// Statuses that are a success when nothing is said of them.
const SUCCESS: (u16, u16) = (200, 299);

impl Default for Expectation {
    fn default() -> Expectation {
        Expectation { statuses: vec![SUCCESS], checks: Arc::default() }
    }
}

impl Expectation {
    /// Reads checks, as [`ResponseCheck`] writes them.
    ///
    /// # Errors
    /// With the first text that is not a check.
    pub fn parse<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Expectation, ResponseCheckError> {
        let checks = texts.into_iter().map(|text| text.as_ref().parse());
        Ok(Expectation::of(&checks.collect::<Result<Vec<ResponseCheck>, _>>()?))
    }

    /// Compiles checks.
    pub fn of(checks: &[ResponseCheck]) -> Expectation {
        let (mut statuses, mut compiled) = (Vec::new(), Checks::default());
        for check in checks {
            match check {
                ResponseCheck::Status { from, to } => statuses.push((*from, *to)),
                ResponseCheck::Header { name, value } => {
                    compiled.headers.push(HeaderCheck { name: name.clone(), value: value.into() });
                }
                ResponseCheck::Body(text) => compiled.bodies.push(text.into()),
            }
        }
        if statuses.is_empty() {
            statuses.push(SUCCESS);
        }
        Expectation { statuses, checks: Arc::new(compiled) }
    }

    /// Whether headers must be shown to a [`Check`].
    pub fn watches_headers(&self) -> bool {
        !self.checks.headers.is_empty()
    }

    /// Whether bodies must be shown to a [`Check`].
    pub fn watches_body(&self) -> bool {
        !self.checks.bodies.is_empty()
    }

    /// The state for one response after another; `None` when the status is all that counts.
    pub fn new_check(&self) -> Option<Check> {
        if !self.watches_headers() && !self.watches_body() {
            return None;
        }
        let bodies = self.checks.bodies.iter().map(BodyState::new).collect();
        let headers = vec![false; self.checks.headers.len()];
        Some(Check { expectation: self.clone(), headers, bodies })
    }

    /// Judges a response of which only the status counts.
    #[inline]
    pub fn judge_status(&self, status: u16) -> Result<(), Failed> {
        if self.statuses.iter().any(|(from, to)| (*from..=*to).contains(&status)) {
            Ok(())
        } else {
            Err(Failed::Status)
        }
    }
}

/// What a response under way has shown. Reused for the next one after [`Check::reset`], without allocating.
#[derive(Debug)]
pub struct Check {
    expectation: Expectation,
    /// Which of the header checks hold.
    headers: Vec<bool>,
    bodies: Vec<BodyState>,
}

#[derive(Debug)]
enum BodyState {
    /// How many bytes came and were equal; `None` once one was not.
    Equal(Option<usize>),
    Contains(Contains),
}

impl Check {
    /// Forgets whatever was shown, for a new response.
    pub fn reset(&mut self) {
        self.headers.fill(false);
        self.bodies.iter_mut().for_each(BodyState::reset);
    }

    /// A header of the response. Of several with one name, one that is as expected will do.
    pub fn header(&mut self, name: &[u8], value: &[u8]) {
        for (check, holds) in self.expectation.checks.headers.iter().zip(&mut self.headers) {
            *holds |= name.eq_ignore_ascii_case(check.name.as_bytes()) && check.value.holds(value);
        }
    }

    /// The next bytes of the body, cut anywhere.
    pub fn body(&mut self, bytes: &[u8]) {
        for (check, state) in self.expectation.checks.bodies.iter().zip(&mut self.bodies) {
            state.take(check, bytes);
        }
    }

    /// The verdict on a complete response.
    pub fn finish(&mut self, status: u16) -> Result<(), Failed> {
        self.expectation.judge_status(status)?;
        if self.headers.contains(&false) {
            return Err(Failed::Header);
        }
        let mut bodies = self.expectation.checks.bodies.iter().zip(&self.bodies);
        if bodies.all(|(check, state)| state.holds(check)) { Ok(()) } else { Err(Failed::Body) }
    }
}

impl From<&Option<TextCheck>> for ValueCheck {
    fn from(check: &Option<TextCheck>) -> ValueCheck {
        match check {
            None => ValueCheck::Present,
            Some(TextCheck::Equal(text)) => ValueCheck::Equal(text.as_bytes().to_owned()),
            Some(TextCheck::Contains(text)) => ValueCheck::Contains(finder(text)),
        }
    }
}

impl From<&TextCheck> for BodyCheck {
    fn from(check: &TextCheck) -> BodyCheck {
        match check {
            TextCheck::Equal(text) => BodyCheck::Equal(text.as_bytes().to_owned()),
            TextCheck::Contains(text) => BodyCheck::Contains(finder(text)),
        }
    }
}

fn finder(text: &str) -> Box<Finder<'static>> {
    Box::new(Finder::new(text).into_owned())
}

impl ValueCheck {
    fn holds(&self, value: &[u8]) -> bool {
        match self {
            ValueCheck::Present => true,
            ValueCheck::Equal(expected) => value.trim_ascii() == expected.as_slice(),
            ValueCheck::Contains(finder) => finder.find(value).is_some(),
        }
    }
}

impl BodyState {
    fn new(check: &BodyCheck) -> BodyState {
        match check {
            BodyCheck::Equal(_) => BodyState::Equal(Some(0)),
            BodyCheck::Contains(finder) => BodyState::Contains(Contains::new(finder)),
        }
    }

    fn reset(&mut self) {
        match self {
            BodyState::Equal(matched) => *matched = Some(0),
            BodyState::Contains(contains) => contains.reset(),
        }
    }

    fn take(&mut self, check: &BodyCheck, bytes: &[u8]) {
        match (self, check) {
            (BodyState::Equal(matched), BodyCheck::Equal(expected)) => {
                *matched = matched
                    .filter(|length| expected[*length..].starts_with(bytes))
                    .map(|length| length + bytes.len());
            }
            (BodyState::Contains(contains), BodyCheck::Contains(finder)) => contains.take(finder, bytes),
            // States are made from the checks, in their order.
            _ => {}
        }
    }

    fn holds(&self, check: &BodyCheck) -> bool {
        match (self, check) {
            (BodyState::Equal(matched), BodyCheck::Equal(expected)) => *matched == Some(expected.len()),
            (BodyState::Contains(contains), _) => contains.found(),
            _ => false,
        }
    }
}
