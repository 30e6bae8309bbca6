//! A connection, the frames that are sent to it, and what comes of them.

use loadline_engine::http2::{Event, Http2, ProtocolError, StreamError, encode_head};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 0x1;
pub const ACK: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;
pub const WITH_PRIORITY: u8 = 0x20;

/// Settings that the tests send.
pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_FRAME_SIZE: u16 = 5;

/// `:status: 200`.
pub const OK: &[u8] = b"\x88";

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A complete header block.
pub fn headers(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, block)
}

/// A complete header block that is all of the response, or its end.
pub fn last_headers(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, block)
}

pub fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, bytes)
}

pub fn last_data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, bytes)
}

pub fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = entries
        .iter()
        .flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    frame(SETTINGS, 0, 0, &payload)
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

pub fn rst_stream(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// A literal field with a name of its own.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// A block of `:status` and further fields.
pub fn block(status: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = fields.iter().map(|(name, value)| field(name, value));
    [field(":status", status)].into_iter().chain(fields).collect::<Vec<_>>().concat()
}

/// An event with bytes of its own; pieces of one body are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Header(usize, String, String),
    Body(usize, Vec<u8>),
    Complete(usize, u16),
    Reset(usize, StreamError),
}

/// A frame that the connection sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Sent {
    /// The number that the payload of short frames is.
    pub fn number(&self) -> u32 {
        u32::from_be_bytes(self.payload[..4].try_into().unwrap())
    }
}

/// The connection under test, opened.
pub struct Connection {
    pub http2: Http2,
    pub events: Vec<Seen>,
    pub out: Vec<u8>,
}

impl Connection {
    /// The peer's settings have not come.
    pub fn fresh(streams: usize) -> Connection {
        let mut http2 = Http2::new(streams);
        let mut out = Vec::new();
        http2.open(&mut out);
        Connection { http2, events: Vec::new(), out }
    }

    /// The peer's settings have come, and what was sent so far is forgotten.
    pub fn ready(streams: usize) -> Connection {
        let mut connection = Connection::fresh(streams);
        connection.feed(&settings(&[])).unwrap();
        connection.out.clear();
        connection
    }

    pub fn get(&mut self) -> usize {
        self.request("GET", b"")
    }

    pub fn request(&mut self, method: &str, body: &[u8]) -> usize {
        let length = (!body.is_empty()).then_some(body.len());
        let head = encode_head(method, "http", "localhost", "/", &[], length);
        self.http2.request(&head, body, method == "HEAD", &mut self.out).unwrap()
    }

    pub fn feed(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        let Connection { http2, events, out } = self;
        http2.feed(input, out, &mut |event| match event {
            Event::Header { slot, name, value } => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                events.push(Seen::Header(slot, text(name), text(value)));
            }
            Event::Body { slot, bytes } => {
                assert!(!bytes.is_empty());
                match events.last_mut() {
                    Some(Seen::Body(same, earlier)) if *same == slot => earlier.extend_from_slice(bytes),
                    _ => events.push(Seen::Body(slot, bytes.to_vec())),
                }
            }
            Event::Complete { slot, status } => events.push(Seen::Complete(slot, status)),
            Event::Reset { slot, reason } => events.push(Seen::Reset(slot, reason)),
        })
    }

    /// Feeds all of it and returns what came of it, fields of heads left out.
    pub fn outcome(&mut self, input: &[Vec<u8>]) -> Vec<Seen> {
        self.feed(&input.concat()).unwrap();
        let events = std::mem::take(&mut self.events);
        events.into_iter().filter(|event| !matches!(event, Seen::Header(..))).collect()
    }

    /// The frames that were sent since the last call.
    pub fn sent(&mut self) -> Vec<Sent> {
        let out = std::mem::take(&mut self.out);
        let mut rest = out.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap_or(&out);
        let mut frames = Vec::new();
        while let Some((head, after)) = rest.split_first_chunk::<9>() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (payload, after) = after.split_at(length);
            let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
            frames.push(Sent { kind: head[3], flags: head[4], stream, payload: payload.to_vec() });
            rest = after;
        }
        assert!(rest.is_empty());
        frames
    }

    /// The same as (kind, flags, stream).
    pub fn sent_kinds(&mut self) -> Vec<(u8, u8, u32)> {
        self.sent().iter().map(|frame| (frame.kind, frame.flags, frame.stream)).collect()
    }
}
