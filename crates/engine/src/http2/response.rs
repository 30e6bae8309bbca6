//! One response: its head, how long its body is to be, and whether it came to that (RFC 9113, section 8.1).

use super::errors::StreamError;
use super::hpack::{CompressionError, Field, Fields};

/// Where Huffman-coded texts are decoded to, reused from one to the next.
#[derive(Debug, Default)]
pub struct Buffers {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// What wants the name and value of each field.
pub type OnField<'a> = &'a mut dyn FnMut(&[u8], &[u8]);

/// Why a header block is not what should come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadError {
    /// It ends the connection.
    Compression,
    /// It ends the stream.
    Stream(StreamError),
}

impl From<CompressionError> for HeadError {
    fn from(CompressionError: CompressionError) -> HeadError {
        HeadError::Compression
    }
}

const MALFORMED: HeadError = HeadError::Stream(StreamError::Malformed);

/// Numbers of names in the static table (RFC 7541, appendix A).
mod number {
    pub const FIRST_STATUS: usize = 8;
    pub const LAST_STATUS: usize = 14;
    pub const LAST_PSEUDO_HEADER: usize = LAST_STATUS;
    pub const CONTENT_LENGTH: usize = 28;
    pub const TRANSFER_ENCODING: usize = 57;
}

/// How far a response has come. Its body is counted, never kept.
#[derive(Debug, Default)]
pub struct Response {
    to_head: bool,
    /// 0 until the final head was read.
    status: u16,
    /// How long the body must be, where that is known.
    length: Option<u64>,
    received: u64,
}

impl Response {
    /// The response to come. `to_head`: the request is HEAD, whose response has no body whatever it says.
    pub fn new(to_head: bool) -> Response {
        Response { to_head, ..Response::default() }
    }

    /// Takes a header block: an interim head, the final one or trailers. `on_field`, if any, gets the fields of the final one;
    /// without it, values but those of `:status` and `content-length` are not even decoded. Says whether this was an interim head.
    pub fn head(
        &mut self,
        block: &[u8],
        end_stream: bool,
        buffers: &mut Buffers,
        mut on_field: Option<OnField<'_>>,
    ) -> Result<bool, HeadError> {
        let mut fields = Fields::new(block);
        if self.status != 0 {
            // Trailers end the response.
            if !end_stream {
                return Err(MALFORMED);
            }
            return fields
                .try_fold(false, |_, field| regular_name(&field?, &mut buffers.name).map(|_| false));
        }
        let first = fields.next().ok_or(MALFORMED)??;
        let is_status = match first.name_index {
            0 => first.name.decode(&mut buffers.name)? == b":status",
            index => (number::FIRST_STATUS..=number::LAST_STATUS).contains(&index),
        };
        if !is_status {
            return Err(MALFORMED);
        }
        let text = first.value.decode(&mut buffers.value)?;
        let status = parse_status(text).ok_or(MALFORMED)?;
        let interim = status < 200;
        // There is no switching of protocols in HTTP/2 (section 8.6).
        if interim && (end_stream || status == 101) {
            return Err(MALFORMED);
        }
        if interim {
            on_field = None;
        }
        if let Some(on_field) = &mut on_field {
            on_field(b":status", text);
        }
        for field in fields {
            let field = field?;
            let name = regular_name(&field, &mut buffers.name)?;
            let is_length = match field.name_index {
                0 => name == b"content-length",
                index => index == number::CONTENT_LENGTH,
            } && !interim;
            if !is_length && on_field.is_none() {
                continue;
            }
            let value = field.value.decode(&mut buffers.value)?;
            if is_length {
                let length = parse_length(value).ok_or(HeadError::Stream(StreamError::Length))?;
                if self.length.is_some_and(|earlier| earlier != length) {
                    return Err(HeadError::Stream(StreamError::Length));
                }
                self.length = Some(length);
            }
            if let Some(on_field) = &mut on_field {
                // Without an early end, which would have each byte wait for the one before.
                if value.iter().fold(false, |found, byte| found | matches!(byte, b'\0' | b'\r' | b'\n')) {
                    return Err(MALFORMED);
                }
                on_field(name, value);
            }
        }
        if !interim {
            self.status = status;
            if self.has_no_body() {
                self.length = Some(0);
            }
        }
        Ok(interim)
    }

    fn has_no_body(&self) -> bool {
        self.to_head || self.status == 204 || self.status == 304
    }

    /// Takes so many bytes of the body.
    pub fn data(&mut self, length: u32) -> Result<(), StreamError> {
        self.received += u64::from(length);
        if self.status == 0 || (length > 0 && self.has_no_body()) {
            return Err(StreamError::Malformed);
        }
        if self.length.is_some_and(|length| self.received > length) {
            return Err(StreamError::Length);
        }
        Ok(())
    }

    /// The status, now that the peer has ended the stream.
    pub fn end(&self) -> Result<u16, StreamError> {
        if self.status == 0 {
            return Err(StreamError::Malformed);
        }
        if self.length.is_some_and(|length| self.received != length) {
            return Err(StreamError::Length);
        }
        Ok(self.status)
    }
}

/// The name of a regular field, of those that a response may have in HTTP/2 (sections 8.2.1 and 8.2.2).
fn regular_name<'b>(field: &Field<'b>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], HeadError> {
    let name = field.name.decode(buffer)?;
    let allowed = match field.name_index {
        0 => {
            let is_token = |byte: &u8| matches!(byte, b'!'..=b'9' | b';'..=b'@' | b'['..=b'~');
            let names_connection = matches!(
                name,
                b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
            );
            !name.is_empty() && name.iter().all(is_token) && !names_connection
        }
        1..=number::LAST_PSEUDO_HEADER | number::TRANSFER_ENCODING => false,
        _ => true,
    };
    if allowed { Ok(name) } else { Err(MALFORMED) }
}

fn parse_status(text: &[u8]) -> Option<u16> {
    let digits: &[u8; 3] = text.try_into().ok()?;
    let status = digits.iter().try_fold(0, |sum, digit| Some(sum * 10 + decimal(*digit)? as u16))?;
    (100..=599).contains(&status).then_some(status)
}

fn parse_length(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(decimal(*digit)?))
}

fn decimal(digit: u8) -> Option<u64> {
    digit.is_ascii_digit().then(|| u64::from(digit - b'0'))
}
