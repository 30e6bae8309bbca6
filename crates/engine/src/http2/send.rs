//! Requests on their way out: the head at once, the body as far as the peer's flow-control windows go (RFC 9113, section 6.9).

use super::frame::{FrameHead, GREATEST_31_BIT, flag, kind};
use super::streams::Stream;

/// Announces a dynamic table of no size (RFC 7541, section 6.3).
const EMPTY_TABLE: &[u8] = &[0b0010_0000];

/// Writes a header block as HEADERS and as many CONTINUATION frames as the peer's frame size asks for (section 6.10).
///
/// The first block of a connection announces an empty dynamic table. If the peer's settings shrink the table, its decoder
/// may demand such an announcement (RFC 7541, section 4.2); a table that is empty from the start never has to shrink.
pub fn write_head(
    stream: u32,
    block: &[u8],
    is_first: bool,
    end_stream: bool,
    max_frame_size: u32,
    out: &mut Vec<u8>,
) {
    let announced = if is_first { EMPTY_TABLE } else { &[] };
    let room = max_frame_size as usize;
    let (first, mut rest) = block.split_at(block.len().min(room - announced.len()));
    let flags = if end_stream { flag::END_STREAM } else { 0 } | end_headers(rest);
    let length = (announced.len() + first.len()) as u32;
    FrameHead { length, kind: kind::HEADERS, flags, stream }.write(out);
    out.extend_from_slice(announced);
    out.extend_from_slice(first);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(room));
        rest = after;
        let flags = end_headers(rest);
        FrameHead { length: piece.len() as u32, kind: kind::CONTINUATION, flags, stream }.write(out);
        out.extend_from_slice(piece);
    }
}

fn end_headers(rest: &[u8]) -> u8 {
    if rest.is_empty() { flag::END_HEADERS } else { 0 }
}

/// The peer's windows and frame size, as one body finds them.
#[derive(Debug)]
pub struct Limits<'a> {
    pub stream_window: &'a mut i64,
    pub connection_window: &'a mut i64,
    pub max_frame_size: u32,
}

/// Writes as much of a body as the windows allow, the last of it with END_STREAM; returns how many bytes that was.
pub fn write_data(stream: u32, body: &[u8], limits: Limits<'_>, out: &mut Vec<u8>) -> usize {
    let mut sent = 0;
    while sent < body.len() {
        let window = (*limits.stream_window).min(*limits.connection_window).max(0);
        let room = window.min(i64::from(limits.max_frame_size)) as usize;
        let length = room.min(body.len() - sent);
        if length == 0 {
            break;
        }
        let piece = &body[sent..sent + length];
        sent += length;
        let flags = if sent == body.len() { flag::END_STREAM } else { 0 };
        FrameHead { length: length as u32, kind: kind::DATA, flags, stream }.write(out);
        out.extend_from_slice(piece);
        *limits.stream_window -= length as i64;
        *limits.connection_window -= length as i64;
    }
    sent
}

/// Writes what is left of a stream's body as far as the windows allow; returns how many bytes that was.
pub fn write_rest(
    stream: &mut Stream,
    connection_window: &mut i64,
    max_frame_size: u32,
    out: &mut Vec<u8>,
) -> usize {
    let limits = Limits { stream_window: &mut stream.send_window, connection_window, max_frame_size };
    let sent = write_data(stream.id, &stream.body[stream.body_sent..], limits, out);
    stream.body_sent += sent;
    sent
}

/// Opens a window further; `None` when it would be larger than a window may be (section 6.9.1).
pub fn grow(window: i64, by: i64) -> Option<i64> {
    let grown = window + by;
    (grown <= i64::from(GREATEST_31_BIT)).then_some(grown)
}
