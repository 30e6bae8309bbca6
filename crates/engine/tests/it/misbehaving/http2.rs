//! The same for HTTP/2: a server that reads frames and answers every request with 204 and nothing else, but for those that it is told to
//! treat otherwise.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{Misbehaving, Then, end};

/// Types of frames (RFC 9113, section 6).
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;

/// Flags: the last frame of its stream; for SETTINGS and PING, an acknowledgement.
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status 204`, indexed (RFC 7541, appendix A, index 9).
const NO_CONTENT: &[u8] = &[0x89];

/// A frame as it goes over the wire (section 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A complete response.
pub fn answer(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, NO_CONTENT)
}

/// Every `nth` request, counted over all connections, meets `misbehave`, which is told its stream; all others are answered.
pub fn every(
    nth: u64,
    misbehave: impl Fn(&mut TcpStream, u32) -> Then + Send + Sync + 'static,
) -> Misbehaving {
    Misbehaving::serving(move |mut connection, _, counts| {
        let mut preface = [0; 24];
        if connection.read_exact(&mut preface).is_err()
            || connection.write_all(&frame(SETTINGS, 0, 0, &[])).is_err()
        {
            return;
        }
        while let Some((kind, flags, stream)) = read_frame(&mut connection) {
            let reply = match kind {
                SETTINGS if flags & END_STREAM == 0 => frame(SETTINGS, END_STREAM, 0, &[]),
                HEADERS if counts.is_nth_request(nth) => {
                    counts.misbehave();
                    match misbehave(&mut connection, stream) {
                        Then::GoOn => continue,
                        then => return end(connection, then),
                    }
                }
                HEADERS => answer(stream),
                _ => continue,
            };
            if connection.write_all(&reply).is_err() {
                return;
            }
        }
    })
}

/// Type, flags and stream of the next frame, whose payload is read and forgotten.
fn read_frame(connection: &mut TcpStream) -> Option<(u8, u8, u32)> {
    let mut head = [0; 9];
    connection.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    connection.read_exact(&mut vec![0; length as usize]).ok()?;
    Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]])))
}
