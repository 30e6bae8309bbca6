//! The head of a response: status, whether the connection stays, and how the body is framed.

use std::mem::MaybeUninit;

use super::body::Body;
use super::{Part, ProtocolError};

/// More headers than any service was seen to send; a few kilobytes of stack.
const MOST_HEADERS: usize = 128;

/// What the engine needs of a head.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub status: u16,
    pub keep_alive: bool,
    length: Option<u64>,
    transfer_encoding: Option<TransferEncoding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransferEncoding {
    /// Chunked is the last coding.
    Chunked,
    /// Another coding is last: the body lasts until the connection closes (RFC 9112, section 6.3).
    Other,
}

impl Head {
    /// The head at the start of `input` and its length in bytes; `None` when it is not complete.
    #[inline]
    pub fn parse(
        input: &[u8],
        on_part: &mut impl FnMut(Part<'_>),
    ) -> Result<Option<(Head, usize)>, ProtocolError> {
        let mut headers = [const { MaybeUninit::<httparse::Header<'_>>::uninit() }; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let config = httparse::ParserConfig::default();
        let length = match config.parse_response_with_uninit_headers(&mut response, input, &mut headers) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(ProtocolError::HeadTooLong),
            Err(_) => return Err(ProtocolError::Head),
        };
        // Both are set in a complete response; 0 falls out below as no status there is.
        let status = response.code.unwrap_or(0);
        if !(100..=599).contains(&status) {
            return Err(ProtocolError::Head);
        }
        let mut head =
            Head { status, keep_alive: response.version == Some(1), length: None, transfer_encoding: None };
        for header in response.headers.iter() {
            head.take(header)?;
            if status >= 200 {
                on_part(Part::Header { name: header.name.as_bytes(), value: header.value });
            }
        }
        Ok(Some((head, length)))
    }

    fn take(&mut self, header: &httparse::Header<'_>) -> Result<(), ProtocolError> {
        // The lengths tell most headers apart at once.
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => self.take_connection(header.value),
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                let length = parse_length(header.value)?;
                if self.length.is_some_and(|earlier| earlier != length) {
                    return Err(ProtocolError::Length);
                }
                self.length = Some(length);
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                let last = last_of_list(header.value);
                self.transfer_encoding = Some(if last.eq_ignore_ascii_case(b"chunked") {
                    TransferEncoding::Chunked
                } else {
                    TransferEncoding::Other
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn take_connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',') {
            let option = option.trim_ascii();
            if option.eq_ignore_ascii_case(b"close") {
                self.keep_alive = false;
            } else if option.eq_ignore_ascii_case(b"keep-alive") {
                self.keep_alive = true;
            }
        }
    }

    /// How the body is framed, by the order of RFC 9112, section 6.3.
    pub fn body(&self, to_head: bool) -> Result<Body, ProtocolError> {
        if to_head || self.status == 204 || self.status == 304 {
            return Ok(Body::Sized { left: 0 });
        }
        match (self.transfer_encoding, self.length) {
            // Both at once is an attempt at smuggling or a broken service.
            (Some(_), Some(_)) => Err(ProtocolError::Length),
            (Some(TransferEncoding::Chunked), None) => Ok(Body::chunked()),
            (Some(TransferEncoding::Other), None) | (None, None) => Ok(Body::UntilClose),
            (None, Some(length)) => Ok(Body::Sized { left: length }),
        }
    }
}

/// The last head that was read, and what it says. A service mostly sends the same one again, for as long as its `Date` stands, and
/// to compare is far less work than to parse.
#[derive(Debug, Default)]
pub struct KnownHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl KnownHead {
    /// What the known head says, and its length, if `input` begins with it: a head ends by itself, so what follows can't change it.
    #[inline]
    pub(super) fn find(&self, input: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        input.starts_with(&self.bytes).then_some((head, self.bytes.len()))
    }

    pub(super) fn keep(&mut self, head: Head, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
    }
}

fn parse_length(value: &[u8]) -> Result<u64, ProtocolError> {
    let value = value.trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(ProtocolError::Length);
    }
    let digits = std::str::from_utf8(value).map_err(|_| ProtocolError::Length)?;
    digits.parse().map_err(|_| ProtocolError::Length)
}

fn last_of_list(value: &[u8]) -> &[u8] {
    value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii()
}
