//! Why requests can't be sent as they are.

/// What is wrong with a request. The message says what to do.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MixError {
    /// There is nothing to send.
    #[error("there is no request to send: give at least one")]
    Empty,
    /// A weight of zero never gets its turn.
    #[error("request {0} has weight 0: give it a weight of at least 1, or leave it out")]
    ZeroWeight(String),
    /// A second one of these would contradict the engine's own.
    #[error("request {request} sets the header {name}: leave it out, it is set from the body")]
    OwnHeader {
        /// Which request.
        request: String,
        /// Which header.
        name: String,
    },
    /// A request names one host.
    #[error("request {0} sets the header Host twice: leave one out")]
    SecondHost(String),
    /// HTTP/2 has no such header.
    #[error("request {request} sets the header {name}, which HTTP/2 forbids: leave it out")]
    NotInHttp2 {
        /// Which request.
        request: String,
        /// Which header.
        name: String,
    },
    /// A control character would end the line and smuggle another one in.
    #[error("{what} of request {request} contains a character that is not allowed in a request head")]
    ForbiddenCharacter {
        /// Which request.
        request: String,
        /// Which part of it.
        what: &'static str,
    },
    /// A path is absolute.
    #[error("the path of request {0} does not begin with a `/`: write it from the root of the service")]
    NoSlash(String),
    /// A placeholder has no end.
    #[error(
        "{what} of request {request} opens a placeholder with `{{{{` and does not close it: write {{{{column}}}}"
    )]
    Unclosed {
        /// Which request.
        request: String,
        /// Which part of it.
        what: &'static str,
    },
    /// A placeholder where nothing fills placeholders.
    #[error(
        "{what} of request {request} has a placeholder, but there is no CSV file to fill it: give one (`feed`), or remove the `{{{{`"
    )]
    NoFeed {
        /// Which request.
        request: String,
        /// Which part of it.
        what: &'static str,
    },
    /// A placeholder names no column.
    #[error(
        "{what} of request {request} has the placeholder {{{{{column}}}}}, but the CSV file has no such column: its columns are {known}"
    )]
    UnknownColumn {
        /// Which request.
        request: String,
        /// Which part of it.
        what: &'static str,
        /// The name in the placeholder.
        column: String,
        /// The names that there are.
        known: String,
    },
    /// A value of the feed can't stand where the request puts it.
    #[error(
        "the value of column `{column}` in line {line} of the CSV file {problem} in request {request}: change it"
    )]
    ForbiddenValue {
        /// Which request.
        request: String,
        /// Which column.
        column: String,
        /// On which line of the file its row begins, from 1.
        line: u64,
        /// What is wrong with it, as a verb with its object.
        problem: &'static str,
    },
}
