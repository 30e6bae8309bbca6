//! What concerns the connection, or a stream as a whole: SETTINGS, WINDOW_UPDATE, RST_STREAM and GOAWAY (RFC 9113, section 6).

use super::errors::{ProtocolError, StreamError, code};
use super::frame::{self, FrameHead, GREATEST_31_BIT, flag};
use super::streams::Found;
use super::{Event, Http2, send};

impl Http2 {
    /// Section 6.5. A changed initial window applies to the streams that are open as well (section 6.9.2).
    pub(super) fn settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ProtocolError> {
        if head.has(flag::ACK) {
            return Ok(());
        }
        let before = i64::from(self.peer.initial_window);
        self.peer.take(payload)?;
        let change = i64::from(self.peer.initial_window) - before;
        if change != 0 {
            for (_, stream) in self.streams.open_ones() {
                stream.send_window =
                    send::grow(stream.send_window, change).ok_or(ProtocolError::FlowControl)?;
            }
        }
        frame::write_settings_ack(out);
        self.send_waiting(out);
        Ok(())
    }

    /// Section 6.9. An update for a stream that is closed may still be on its way and means nothing.
    pub(super) fn window_update(
        &mut self,
        id: u32,
        increment: u32,
        out: &mut Vec<u8>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        let by = i64::from(increment & GREATEST_31_BIT);
        let grown = |window| if by == 0 { None } else { send::grow(window, by) };
        if id == 0 {
            self.send_window = grown(self.send_window).ok_or(ProtocolError::FlowControl)?;
            self.send_waiting(out);
            return Ok(());
        }
        match self.streams.find(id) {
            Found::Slot(slot) => match grown(self.streams.get(slot).send_window) {
                Some(window) => {
                    self.streams.get(slot).send_window = window;
                    self.send_waiting(out);
                }
                None => self.fail(slot, StreamError::FlowControl, code::FLOW_CONTROL_ERROR, out, on_event),
            },
            Found::GivenUp | Found::Closed => {}
            Found::Idle => return Err(ProtocolError::Stream),
        }
        Ok(())
    }

    /// Section 6.4.
    pub(super) fn rst_stream(
        &mut self,
        id: u32,
        code: u32,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ProtocolError> {
        match self.streams.find(id) {
            Found::Slot(slot) => {
                self.close(slot, false);
                let reason = match code {
                    code::REFUSED_STREAM => StreamError::Refused,
                    code => StreamError::Reset(code),
                };
                on_event(Event::Reset { slot, reason });
                Ok(())
            }
            Found::GivenUp | Found::Closed => Ok(()),
            Found::Idle => Err(ProtocolError::Stream),
        }
    }

    /// Section 6.8. The streams above the last one that the peer names were not and will not be processed; the others go on.
    pub(super) fn goaway(&mut self, last: u32, on_event: &mut impl FnMut(Event<'_>)) {
        self.closing = true;
        let last = last & GREATEST_31_BIT;
        for slot in 0..self.streams.len() {
            let id = self.streams.get(slot).id;
            if id > last {
                self.close(slot, true);
                on_event(Event::Reset { slot, reason: StreamError::Refused });
            }
        }
    }
}

/// The 32-bit number that a payload begins with.
pub fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
