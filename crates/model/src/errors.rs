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

/// More different statuses of requests than these are counted by their kind alone.
const MOST_STATUSES: usize = 64;

/// Failed requests by kind, in the order of [`ErrorKind::ALL`]; of those that had another status than expected, which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    kinds: [u64; ErrorKind::ALL.len()],
    statuses: Vec<FailedStatus>,
}

/// How often a request was answered with a status that was not expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStatus {
    /// Which request of the mix.
    pub request: usize,
    /// The status.
    pub status: u16,
    /// How often.
    pub count: u64,
}

impl Errors {
    /// Counts one failed request.
    pub fn count(&mut self, kind: ErrorKind) {
        self.kinds[kind as usize] += 1;
    }

    /// Counts one request of the mix with a status that was not expected.
    pub fn count_status(&mut self, request: usize, status: u16) {
        self.count(ErrorKind::Status);
        self.add_status(FailedStatus { request, status, count: 1 });
    }

    fn add_status(&mut self, other: FailedStatus) {
        let is_same =
            |known: &&mut FailedStatus| (known.request, known.status) == (other.request, other.status);
        if let Some(known) = self.statuses.iter_mut().find(is_same) {
            known.count += other.count;
        } else if self.statuses.len() < MOST_STATUSES {
            self.statuses.push(other);
        }
    }

    /// Failed requests of one kind.
    pub fn of(&self, kind: ErrorKind) -> u64 {
        self.kinds[kind as usize]
    }

    /// All failed requests.
    pub fn total(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Errors) {
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            *mine += theirs;
        }
        other.statuses.iter().for_each(|status| self.add_status(*status));
    }

    /// Forgets all of them, and keeps the room for statuses.
    pub fn clear(&mut self) {
        self.kinds = Default::default();
        self.statuses.clear();
    }

    /// The kinds that occurred, by name; statuses with their request in the place of their kind, `GET /a: 401`. `requests` are those of the mix, on
    /// one line each.
    pub fn by_request(&self, requests: &[String]) -> BTreeMap<String, u64> {
        let mut names = self.by_name();
        let mut unnamed = self.of(ErrorKind::Status);
        for FailedStatus { request, status, count } in &self.statuses {
            let Some(request) = requests.get(*request) else { continue };
            *names.entry(format!("{request}: {status}")).or_insert(0) += count;
            unnamed = unnamed.saturating_sub(*count);
        }
        match unnamed {
            0 => names.remove(ErrorKind::Status.name()),
            unnamed => names.insert(ErrorKind::Status.name().to_owned(), unnamed),
        };
        names
    }

    /// The kinds that occurred, by name.
    pub fn by_name(&self) -> BTreeMap<String, u64> {
        let seen = ErrorKind::ALL.into_iter().filter(|kind| self.of(*kind) > 0);
        seen.map(|kind| (kind.name().to_owned(), self.of(kind))).collect()
    }
}

/// Whether [`Errors::by_request`] names a status, of a request, by this.
pub fn names_a_status(kind: &str) -> bool {
    kind.contains(": ")
}

/// A kind of error as [`Errors::by_request`] names it, in words with its count: `GET /a: 40 × 401`, `5 timeout`.
pub fn counted_in_words(kind: &str, count: u64) -> String {
    match kind.rsplit_once(": ") {
        Some((request, status)) => format!("{request}: {count} × {status}"),
        None => format!("{count} {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_named_with_their_requests() {
        let requests = ["GET /a".to_owned(), "POST /b".to_owned()];
        let (mut one, mut other) = (Errors::default(), Errors::default());
        one.count_status(0, 401);
        one.count(ErrorKind::Timeout);
        other.count_status(0, 401);
        other.count_status(1, 503);
        one.add(&other);
        assert_eq!((one.total(), one.of(ErrorKind::Status)), (4, 3));
        let named = one.by_request(&requests);
        let expected = [("GET /a: 401", 2), ("POST /b: 503", 1), ("timeout", 1)];
        assert_eq!(named, expected.map(|(name, count)| (name.to_owned(), count)).into());
        assert_eq!(named.values().sum::<u64>(), one.total());
        let words: Vec<String> = named.iter().map(|(name, count)| counted_in_words(name, *count)).collect();
        assert_eq!(words, ["GET /a: 2 × 401", "POST /b: 1 × 503", "1 timeout"]);
    }

    #[test]
    fn statuses_beyond_those_that_are_kept_apart_are_counted() {
        let mut errors = Errors::default();
        (0..100).for_each(|request| errors.count_status(request, 500));
        let requests: Vec<String> = (0..100).map(|at| format!("GET /{at}")).collect();
        let named = errors.by_request(&requests);
        assert_eq!(named.len(), MOST_STATUSES + 1);
        assert_eq!((named["status"], named.values().sum::<u64>()), (36, 100));
    }
}
