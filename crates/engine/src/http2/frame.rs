//! Frames as they stand on the wire (RFC 9113, section 4.1): their heads read, and the short ones written.

/// Length of a frame's head in bytes.
pub const HEAD_LENGTH: usize = 9;
/// Longest payload that an endpoint takes unless its settings say otherwise, ours too (section 4.2).
pub const DEFAULT_MAX_FRAME_SIZE: u32 = 16_384;
/// Stream identifiers, windows and increments have 31 bits; the 32nd is reserved and ignored.
pub const GREATEST_31_BIT: u32 = u32::MAX >> 1;

/// Kinds of frames (section 6).
pub mod kind {
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
}

/// Flags, which mean something only with the kinds that have them (section 6).
pub mod flag {
    pub const END_STREAM: u8 = 0x1;
    pub const ACK: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload in bytes, 24 bits.
    pub length: u32,
    pub kind: u8,
    pub flags: u8,
    /// 0 for the connection as a whole.
    pub stream: u32,
}

impl FrameHead {
    pub fn parse(bytes: &[u8; HEAD_LENGTH]) -> FrameHead {
        let [length @ .., _, _, _, _, _, _] = *bytes;
        let [_, _, _, kind, flags, stream @ ..] = *bytes;
        FrameHead {
            length: u32::from_be_bytes([0, length[0], length[1], length[2]]),
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & GREATEST_31_BIT,
        }
    }

    pub fn write(self, out: &mut Vec<u8>) {
        let [_, length @ ..] = self.length.to_be_bytes();
        let [a, b, c] = length;
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, d, e, f, g]);
    }

    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// A frame of one 32-bit number.
fn write_number(kind: u8, stream: u32, number: u32, out: &mut Vec<u8>) {
    FrameHead { length: 4, kind, flags: 0, stream }.write(out);
    out.extend_from_slice(&number.to_be_bytes());
}

/// Ends a stream (section 6.4).
pub fn write_rst_stream(stream: u32, code: u32, out: &mut Vec<u8>) {
    write_number(kind::RST_STREAM, stream, code, out);
}

/// Lets the peer send so many bytes more (section 6.9); stream 0 is the connection.
pub fn write_window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    write_number(kind::WINDOW_UPDATE, stream, increment, out);
}

/// Ends the connection (section 6.8). No stream of the peer's was processed, as it may open none.
pub fn write_goaway(code: u32, out: &mut Vec<u8>) {
    FrameHead { length: 8, kind: kind::GOAWAY, flags: 0, stream: 0 }.write(out);
    out.extend_from_slice(&0_u32.to_be_bytes());
    out.extend_from_slice(&code.to_be_bytes());
}

/// Answers a PING with its own payload (section 6.7).
pub fn write_ping_ack(payload: &[u8], out: &mut Vec<u8>) {
    FrameHead { length: payload.len() as u32, kind: kind::PING, flags: flag::ACK, stream: 0 }.write(out);
    out.extend_from_slice(payload);
}

/// Says that the peer's settings are in force (section 6.5.3).
pub fn write_settings_ack(out: &mut Vec<u8>) {
    FrameHead { length: 0, kind: kind::SETTINGS, flags: flag::ACK, stream: 0 }.write(out);
}
