//! HTTP/1.x responses as they come off a socket, in pieces of any size (RFC 9112). Bodies are counted, never kept.

mod body;
mod head;

use body::{Body, BodyError};
use head::Head;
pub use head::KnownHead;

/// Longest head of a response, interim responses counted each on its own.
pub const LONGEST_HEAD: usize = 64 * 1024;

/// What a piece of input led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All input was used; the response goes on.
    Partial,
    /// The response ended within the input.
    Complete(Response),
}

/// A part of a response, for whoever checks what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A header of the response's own head; those of interim responses and trailers are not told.
    Header {
        /// As it was written; names ignore case.
        name: &'a [u8],
        /// Without the white space around it.
        value: &'a [u8],
    },
    /// The next bytes of the body, without the framing of chunks.
    Body(&'a [u8]),
}

/// A complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
    /// How many bytes of the last input belong to the response; what follows was not asked for.
    pub consumed: usize,
}

/// Why input is not an HTTP/1.x response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Status line or headers can't be read.
    #[error("the head of the response is malformed")]
    Head,
    /// The head is longer than [`LONGEST_HEAD`], or has more than 128 headers.
    #[error("the head of the response is too long")]
    HeadTooLong,
    /// `Content-Length` is no number, or there are two that differ.
    #[error("the length of the response is malformed or contradicts itself")]
    Length,
    /// A chunk size or chunk ending can't be read.
    #[error("a chunk of the response is malformed")]
    Chunk,
    /// `101 Switching Protocols` without an upgrade having been asked for.
    #[error("the service switched protocols without being asked")]
    Upgrade,
}

impl From<BodyError> for ProtocolError {
    fn from(BodyError: BodyError) -> ProtocolError {
        ProtocolError::Chunk
    }
}

/// Reads one response after another. Keeps only the bytes of a head that is not complete yet.
#[derive(Debug, Default)]
pub struct ResponseParser {
    state: State,
    /// The beginning of a head that came in pieces.
    partial_head: Vec<u8>,
}

#[derive(Debug, Default)]
enum State {
    /// Before or within a head.
    #[default]
    Head,
    Body {
        status: u16,
        keep_alive: bool,
        body: Body,
    },
}

impl ResponseParser {
    /// Forgets whatever was read, for a new response.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.partial_head.clear();
    }

    /// Takes the next bytes from the socket. `to_head`: the request was HEAD, whose response has no body whatever it says.
    /// `on_part` is told of headers and body as they come, but not of the headers of a head that is `known`: whoever wants them
    /// gives `None`.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        to_head: bool,
        mut known: Option<&mut KnownHead>,
        on_part: &mut impl FnMut(Part<'_>),
    ) -> Result<Progress, ProtocolError> {
        let mut used = 0;
        loop {
            match &mut self.state {
                State::Head => {
                    let Some((head, length)) =
                        self.read_head(&input[used..], known.as_deref_mut(), on_part)?
                    else {
                        return Ok(Progress::Partial);
                    };
                    used += length;
                    match head.status {
                        101 => return Err(ProtocolError::Upgrade),
                        // Interim responses (RFC 9110, section 15.2) come before the real one.
                        100..=199 => continue,
                        _ => {}
                    }
                    let body = head.body(to_head)?;
                    self.state = State::Body { status: head.status, keep_alive: head.keep_alive, body };
                }
                State::Body { status, keep_alive, body } => {
                    let (length, complete) =
                        body.feed(&input[used..], &mut |bytes| on_part(Part::Body(bytes)))?;
                    used += length;
                    if !complete {
                        return Ok(Progress::Partial);
                    }
                    let response = Response { status: *status, keep_alive: *keep_alive, consumed: used };
                    self.reset();
                    return Ok(Progress::Complete(response));
                }
            }
        }
    }

    /// The peer closed its side. A body without a length ends here; everything else ended too early.
    pub fn end(&mut self) -> Option<Response> {
        let State::Body { status, body: Body::UntilClose, .. } = self.state else { return None };
        self.reset();
        Some(Response { status, keep_alive: false, consumed: 0 })
    }

    /// The head at the start of what is kept and `input`, and how many bytes of `input` belong to it.
    fn read_head(
        &mut self,
        input: &[u8],
        known: Option<&mut KnownHead>,
        on_part: &mut impl FnMut(Part<'_>),
    ) -> Result<Option<(Head, usize)>, ProtocolError> {
        if self.partial_head.is_empty() {
            if let Some(found) = known.as_ref().and_then(|known| known.find(input)) {
                return Ok(Some(found));
            }
            if let Some((head, length)) = Head::parse(input, on_part)? {
                if let Some(known) = known {
                    known.keep(head, &input[..length]);
                }
                return Ok(Some((head, length)));
            }
            if input.len() > LONGEST_HEAD {
                return Err(ProtocolError::HeadTooLong);
            }
            self.partial_head.extend_from_slice(input);
            return Ok(None);
        }
        let kept = self.partial_head.len();
        let room = LONGEST_HEAD.saturating_sub(kept);
        self.partial_head.extend_from_slice(&input[..input.len().min(room)]);
        // Parsing again from the start for every piece would be quadratic in a head that trickles in byte by byte; a head can
        // only be complete where an empty line is.
        let from = kept.saturating_sub(3);
        if !has_empty_line(&self.partial_head[from..]) {
            if self.partial_head.len() >= LONGEST_HEAD {
                return Err(ProtocolError::HeadTooLong);
            }
            return Ok(None);
        }
        let Some((head, length)) = Head::parse(&self.partial_head, on_part)? else {
            // httparse skips empty lines before a status line, so an empty line alone does not complete a head.
            return Ok(None);
        };
        self.partial_head.clear();
        Ok(Some((head, length.saturating_sub(kept))))
    }
}

/// Whether a line ends and the next one is empty: LF LF or LF CR LF (RFC 9112, section 2.2, lets a recipient take a bare LF).
fn has_empty_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\n\n") || bytes.windows(3).any(|triple| triple == b"\n\r\n")
}
