//! The peer's bytes, cut into frames and handed to what they concern. A payload that is whole in the input is read where it
//! lies; of DATA, which may be long, every piece is handed on as it comes.

use super::control::number;
use super::errors::ProtocolError;
use super::frame::{self, DEFAULT_MAX_FRAME_SIZE, FrameHead, HEAD_LENGTH, flag, kind};
use super::streams::Found;
use super::{Event, Http2, Position};

/// More frames in a row that bring no response further than any service has a reason to send: with a ping every second, hours.
const MOST_IDLE_FRAMES: u32 = 10_000;

impl Http2 {
    /// Takes the next bytes from the socket, cut anywhere; appends to `out` what is to be written in answer. After an error, which
    /// every later call repeats, what is in `out` may still be written before the connection is closed, and the requests
    /// under way have failed.
    pub fn feed(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = self.read(input, out, on_event);
        if let Err(error) = result {
            self.failed = Some(error);
            frame::write_goaway(error.code(), out);
        }
        result
    }

    fn read(
        &mut self,
        mut input: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        // Nothing that is called from here looks at it, and it changes several times a frame.
        let mut position = self.position;
        let interrupted = loop {
            position = match position {
                Position::Head => {
                    let Some(bytes) = whole(&mut self.partial, &mut input, HEAD_LENGTH) else {
                        break position;
                    };
                    // `whole` returned as many bytes as it was asked for.
                    let head = bytes.first_chunk().map(FrameHead::parse).ok_or(ProtocolError::FrameSize)?;
                    self.partial.clear();
                    self.frame_head(head, out, on_event)?
                }
                Position::Payload(head) => {
                    let mut partial = std::mem::take(&mut self.partial);
                    let payload = whole(&mut partial, &mut input, head.length as usize);
                    let result = payload.map(|payload| self.payload(head, payload, out, on_event));
                    if result.is_some() {
                        partial.clear();
                    }
                    self.partial = partial;
                    let Some(result) = result else { break position };
                    result?;
                    Position::Head
                }
                Position::PadLength(head) => {
                    let Some((padding, rest)) = input.split_first() else { break position };
                    input = rest;
                    self.data_head(head, Some(*padding), out, on_event)?
                }
                Position::Data { stream, body: 0, padding, end_stream } => {
                    Position::Skipped { left: padding, ended: if end_stream { stream } else { 0 } }
                }
                Position::Data { stream, body, padding, end_stream } => {
                    if input.is_empty() {
                        break position;
                    }
                    let (bytes, rest) = input.split_at(input.len().min(body as usize));
                    input = rest;
                    if let Found::Slot(slot) = self.streams.find(stream) {
                        on_event(Event::Body { slot, bytes });
                    }
                    Position::Data { stream, body: body - bytes.len() as u32, padding, end_stream }
                }
                Position::Skipped { left: 0, ended } => {
                    if ended != 0 {
                        self.end_stream(ended, out, on_event);
                    }
                    Position::Head
                }
                Position::Skipped { left, ended } => {
                    if input.is_empty() {
                        break position;
                    }
                    let length = input.len().min(left as usize);
                    input = &input[length..];
                    Position::Skipped { left: left - length as u32, ended }
                }
            };
        };
        self.position = interrupted;
        Ok(())
    }

    /// Checks what the head alone can tell, so that a wrong frame is refused before its payload has come.
    fn frame_head(
        &mut self,
        head: FrameHead,
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<Position, ProtocolError> {
        if !self.peer.told && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(ProtocolError::NotHttp2);
        }
        if head.length > DEFAULT_MAX_FRAME_SIZE {
            return Err(ProtocolError::FrameSize);
        }
        let continues = head.kind == kind::CONTINUATION;
        if continues != (self.block.stream != 0) || (continues && head.stream != self.block.stream) {
            return Err(ProtocolError::Continuation);
        }
        let (of_connection, length_fits) = match head.kind {
            kind::DATA | kind::HEADERS | kind::CONTINUATION => (Some(false), true),
            kind::PRIORITY => (Some(false), head.length == 5),
            kind::RST_STREAM => (Some(false), head.length == 4),
            kind::SETTINGS if head.has(flag::ACK) => (Some(true), head.length == 0),
            kind::SETTINGS => (Some(true), head.length.is_multiple_of(6)),
            kind::PUSH_PROMISE => return Err(ProtocolError::Push),
            kind::PING => (Some(true), head.length == 8),
            kind::GOAWAY => (Some(true), head.length >= 8),
            kind::WINDOW_UPDATE => (None, head.length == 4),
            _ => (None, true),
        };
        if !length_fits {
            return Err(ProtocolError::FrameSize);
        }
        if of_connection.is_some_and(|of_connection| of_connection != (head.stream == 0)) {
            return Err(ProtocolError::Stream);
        }
        match head.kind {
            kind::DATA if head.has(flag::PADDED) && head.length == 0 => Err(ProtocolError::FrameSize),
            kind::DATA if head.has(flag::PADDED) => Ok(Position::PadLength(head)),
            kind::DATA => self.data_head(head, None, out, on_event),
            kind::HEADERS | kind::RST_STREAM | kind::WINDOW_UPDATE => Ok(Position::Payload(head)),
            _ => {
                self.count_idle_frame()?;
                let is_read = (kind::SETTINGS..=kind::CONTINUATION).contains(&head.kind);
                Ok(if is_read {
                    Position::Payload(head)
                } else {
                    Position::Skipped { left: head.length, ended: 0 }
                })
            }
        }
    }

    /// Takes the whole payload of a frame other than DATA.
    fn payload(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        match head.kind {
            kind::HEADERS => self.headers(head, payload, out, on_event),
            kind::CONTINUATION => self.continuation(head, payload, out, on_event),
            kind::SETTINGS => self.settings(head, payload, out),
            kind::PING => {
                if !head.has(flag::ACK) {
                    frame::write_ping_ack(payload, out);
                }
                Ok(())
            }
            kind::RST_STREAM => self.rst_stream(head.stream, number(payload), on_event),
            kind::WINDOW_UPDATE => self.window_update(head.stream, number(payload), out, on_event),
            _ => {
                self.goaway(number(payload), on_event);
                Ok(())
            }
        }
    }

    /// A frame that brings no response further. WINDOW_UPDATE is none: how often it comes depends on how much was sent.
    pub(super) fn count_idle_frame(&mut self) -> Result<(), ProtocolError> {
        self.idle_frames += 1;
        if self.idle_frames > MOST_IDLE_FRAMES { Err(ProtocolError::Flood) } else { Ok(()) }
    }
}

/// The next `length` bytes as they lie in `input`, or put together in `partial` when they came in pieces. `None` keeps what there
/// is; the caller clears `partial` when it is done with the bytes.
fn whole<'a, 'input: 'a>(
    partial: &'a mut Vec<u8>,
    input: &mut &'input [u8],
    length: usize,
) -> Option<&'a [u8]> {
    let missing = length - partial.len();
    let (bytes, rest) = input.split_at(input.len().min(missing));
    *input = rest;
    if partial.is_empty() && bytes.len() == length {
        return Some(bytes);
    }
    partial.extend_from_slice(bytes);
    (partial.len() == length).then_some(partial)
}
