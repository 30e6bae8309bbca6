//! What can go wrong with a request, counted by kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Kind of a failed request. Each failed request counts once, under the first thing that went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No connection could be made for a request that was due.
    Connect,
    /// No complete response within the time-out.
    Timeout,
    /// The peer reset the connection, or writing failed.
    Reset,
    /// The peer closed before the response was complete.
    EarlyEnd,
    /// The response is not HTTP, or more came than was asked for.
    Malformed,
    /// A complete response with a status other than expected; 200 to 299 when nothing is said.
    Status,
    /// A complete response without a header that was expected of it.
    Header,
    /// A complete response whose body is not what was expected.
    Body,
}

impl ErrorKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [ErrorKind; 8] = [
        ErrorKind::Connect,
        ErrorKind::Timeout,
        ErrorKind::Reset,
        ErrorKind::EarlyEnd,
        ErrorKind::Malformed,
        ErrorKind::Status,
        ErrorKind::Header,
        ErrorKind::Body,
    ];

    /// The name under which it is counted in files.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Connect => "connect",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Reset => "reset",
            ErrorKind::EarlyEnd => "early_end",
            ErrorKind::Malformed => "malformed",
            ErrorKind::Status => "status",
            ErrorKind::Header => "header",
            ErrorKind::Body => "body",
        }
    }
}

/// Failed requests by kind. Serialised as their numbers in the order of [`ErrorKind::ALL`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors([u64; ErrorKind::ALL.len()]);

impl Errors {
    /// Counts one failed request.
    pub fn count(&mut self, kind: ErrorKind) {
        self.0[kind as usize] += 1;
    }

    /// Failed requests of one kind.
    pub fn of(&self, kind: ErrorKind) -> u64 {
        self.0[kind as usize]
    }

    /// All failed requests.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Errors) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The kinds that occurred, by name.
    pub fn by_name(&self) -> BTreeMap<String, u64> {
        let seen = ErrorKind::ALL.into_iter().filter(|kind| self.of(*kind) > 0);
        seen.map(|kind| (kind.name().to_owned(), self.of(kind))).collect()
    }
}
