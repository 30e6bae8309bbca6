//! What the two sides tell each other about themselves (RFC 9113, sections 3.4 and 6.5).

use super::errors::ProtocolError;
use super::frame::{self, DEFAULT_MAX_FRAME_SIZE, FrameHead, GREATEST_31_BIT, kind};

/// Initial size of every flow-control window, the connection's among them (section 6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;
/// How many requests may be under way while the peer's limit is not known. Section 6.5.2 asks servers to allow 100, but nginx allows 4
/// when told so.
const UNKNOWN_MAX_STREAMS: u32 = 1;

/// Identifiers of settings (section 6.5.2).
mod setting {
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    pub const ENABLE_PUSH: u16 = 0x2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    pub const MAX_FRAME_SIZE: u16 = 0x5;
}

/// Writes what a client begins with: the preface, our settings, and the largest window there is for the connection. Windows
/// this large never hold a service back, so that what is measured is the service and TCP's own flow control.
pub fn write_preface(out: &mut Vec<u8>) {
    const OURS: [(u16, u32); 3] = [
        (setting::HEADER_TABLE_SIZE, 0),
        (setting::ENABLE_PUSH, 0),
        (setting::INITIAL_WINDOW_SIZE, GREATEST_31_BIT),
    ];
    out.extend_from_slice(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    FrameHead { length: OURS.len() as u32 * 6, kind: kind::SETTINGS, flags: 0, stream: 0 }.write(out);
    for (identifier, value) in OURS {
        out.extend_from_slice(&identifier.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
    frame::write_window_update(0, GREATEST_31_BIT - DEFAULT_WINDOW, out);
}

/// The peer's settings, as far as they concern a client that compresses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSettings {
    /// Whether the peer has told them; what it doesn't tell has its default.
    pub told: bool,
    pub max_concurrent_streams: u32,
    pub initial_window: u32,
    pub max_frame_size: u32,
}

impl Default for PeerSettings {
    fn default() -> PeerSettings {
        PeerSettings {
            told: false,
            max_concurrent_streams: UNKNOWN_MAX_STREAMS,
            initial_window: DEFAULT_WINDOW,
            max_frame_size: DEFAULT_MAX_FRAME_SIZE,
        }
    }
}

impl PeerSettings {
    /// Takes the payload of a SETTINGS frame.
    pub fn take(&mut self, payload: &[u8]) -> Result<(), ProtocolError> {
        if !self.told {
            self.told = true;
            self.max_concurrent_streams = u32::MAX;
        }
        let (entries, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(ProtocolError::FrameSize);
        }
        for [high, low, value @ ..] in entries {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*high, *low]) {
                setting::ENABLE_PUSH if value != 0 => return Err(ProtocolError::Setting),
                setting::MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = value,
                setting::INITIAL_WINDOW_SIZE if value > GREATEST_31_BIT => {
                    return Err(ProtocolError::FlowControl);
                }
                setting::INITIAL_WINDOW_SIZE => self.initial_window = value,
                setting::MAX_FRAME_SIZE if !(DEFAULT_MAX_FRAME_SIZE..1 << 24).contains(&value) => {
                    return Err(ProtocolError::Setting);
                }
                setting::MAX_FRAME_SIZE => self.max_frame_size = value,
                // The table size is no matter, as our blocks announce a table of no size; the rest is to be ignored.
                _ => {}
            }
        }
        Ok(())
    }
}
