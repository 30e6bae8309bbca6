//! What brings a response further: DATA, HEADERS and CONTINUATION (RFC 9113, sections 6.1, 6.2 and 6.10), and how a stream ends.

use super::errors::{ProtocolError, StreamError, code};
use super::frame::{self, FrameHead, GREATEST_31_BIT, flag};
use super::response::{HeadError, OnField};
use super::streams::Found;
use super::{Event, Http2, LONGEST_HEAD, Position};

/// A window of ours is opened again when half of it is used. The peer can't use all of it before, so nothing checks that.
const HALF_WINDOW: u32 = GREATEST_31_BIT / 2;

impl Http2 {
    /// Begins a DATA frame. `padding` is the value of the byte that a padded frame begins with; all of the frame counts for flow
    /// control (section 6.1).
    pub(super) fn data_head(
        &mut self,
        head: FrameHead,
        padding: Option<u8>,
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<Position, ProtocolError> {
        let padded_by = padding.map_or(0, |padding| 1 + u32::from(padding));
        let body = head.length.checked_sub(padded_by).ok_or(ProtocolError::Padding)?;
        let padding = padded_by.saturating_sub(1);
        let end_stream = head.has(flag::END_STREAM);
        if let Some(increment) = used(&mut self.window_used, head.length) {
            frame::write_window_update(0, increment, out);
        }
        let position = Position::Data { stream: head.stream, body, padding, end_stream };
        let slot = match self.streams.find(head.stream) {
            Found::Slot(slot) => slot,
            Found::GivenUp => return Ok(position),
            Found::Closed | Found::Idle => return Err(ProtocolError::Stream),
        };
        if body > 0 || end_stream {
            self.idle_frames = 0;
        } else {
            self.count_idle_frame()?;
        }
        let stream = self.streams.get(slot);
        match stream.response.data(body) {
            Ok(()) => {
                if let Some(increment) = used(&mut stream.window_used, head.length)
                    && !end_stream
                {
                    frame::write_window_update(head.stream, increment, out);
                }
            }
            Err(reason) => self.fail(slot, reason, code::PROTOCOL_ERROR, out, on_event),
        }
        Ok(position)
    }

    pub(super) fn headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        let fragment = header_fragment(head, payload)?;
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.header_block(head.stream, end_stream, fragment, out, on_event);
        }
        self.block.stream = head.stream;
        self.block.end_stream = end_stream;
        self.block.bytes.clear();
        self.block.bytes.extend_from_slice(fragment);
        Ok(())
    }

    pub(super) fn continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        if self.block.bytes.len() + payload.len() > LONGEST_HEAD {
            return Err(ProtocolError::HeadTooLong);
        }
        self.block.bytes.extend_from_slice(payload);
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.block.bytes);
        let stream = std::mem::take(&mut self.block.stream);
        let result = self.header_block(stream, self.block.end_stream, &bytes, out, on_event);
        self.block.bytes = bytes;
        result
    }

    /// Takes a complete header block.
    fn header_block(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        let slot = match self.streams.find(id) {
            Found::Slot(slot) => slot,
            // A block leaves nothing behind that the next one needs, so it need not be read.
            Found::GivenUp => return Ok(()),
            Found::Closed | Found::Idle => return Err(ProtocolError::Stream),
        };
        let response = &mut self.streams.get(slot).response;
        let mut on_field = |name: &[u8], value: &[u8]| on_event(Event::Header { slot, name, value });
        let on_field: Option<OnField<'_>> = if self.headers { Some(&mut on_field) } else { None };
        match response.head(block, end_stream, &mut self.buffers, on_field) {
            Ok(true) => self.count_idle_frame()?,
            Ok(false) => self.idle_frames = 0,
            Err(HeadError::Compression) => return Err(ProtocolError::Compression),
            Err(HeadError::Stream(reason)) => self.fail(slot, reason, code::PROTOCOL_ERROR, out, on_event),
        }
        if end_stream {
            self.end_stream(id, out, on_event);
        }
        Ok(())
    }

    /// The peer has sent all of its response.
    pub(super) fn end_stream(&mut self, id: u32, out: &mut Vec<u8>, on_event: &mut impl FnMut(Event<'_>)) {
        let Found::Slot(slot) = self.streams.find(id) else { return };
        let stream = self.streams.get(slot);
        match stream.response.end() {
            Ok(status) => {
                // The service has answered without waiting for the whole request (section 8.1), which is not sent to its end then.
                if stream.has_unsent_body() {
                    frame::write_rst_stream(id, code::NO_ERROR, out);
                }
                self.close(slot, false);
                on_event(Event::Complete { slot, status });
            }
            Err(reason) => self.fail(slot, reason, code::PROTOCOL_ERROR, out, on_event),
        }
    }

    /// Ends a stream for something that the peer did.
    pub(super) fn fail(
        &mut self,
        slot: usize,
        reason: StreamError,
        code: u32,
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) {
        frame::write_rst_stream(self.streams.get(slot).id, code, out);
        self.close(slot, true);
        on_event(Event::Reset { slot, reason });
    }
}

/// Notes that so many bytes of a window of ours are used; says by how much to open it again once that is worth a frame.
fn used(window_used: &mut u32, length: u32) -> Option<u32> {
    *window_used += length;
    (*window_used >= HALF_WINDOW).then(|| std::mem::take(window_used))
}

/// The part of a HEADERS payload that belongs to the block: without the padding and the priority, which says nothing any more.
fn header_fragment(head: FrameHead, mut payload: &[u8]) -> Result<&[u8], ProtocolError> {
    let mut padding = 0;
    if head.has(flag::PADDED) {
        let (length, rest) = payload.split_first().ok_or(ProtocolError::FrameSize)?;
        padding = usize::from(*length);
        payload = rest;
    }
    if head.has(flag::PRIORITY) {
        payload = payload.get(5..).ok_or(ProtocolError::FrameSize)?;
    }
    let length = payload.len().checked_sub(padding).ok_or(ProtocolError::Padding)?;
    Ok(&payload[..length])
}
