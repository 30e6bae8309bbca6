//! The client's side of an HTTP/2 connection (RFC 9113) without its socket: bytes come in, bytes and events go out. Every request
//! under way has a slot, bodies are handed on and never kept, and nothing is allocated per request once the buffers have grown.

mod control;
mod errors;
mod frame;
mod hpack;
mod huffman;
mod messages;
mod receive;
mod request;
mod response;
mod send;
mod settings;
mod static_table;
mod streams;

pub use errors::{ProtocolError, StreamError};
pub(crate) use request::append_integer;
pub use request::encode_head;
pub(crate) use request::fields_as_lines;
pub(crate) use static_table::STATIC_TABLE;

use frame::FrameHead;
use response::Buffers;
use settings::{DEFAULT_WINDOW, PeerSettings};
use streams::Streams;

/// Longest header block of a response, in bytes as it stands on the wire.
pub const LONGEST_HEAD: usize = 64 * 1024;

/// What came of a request. Within one call of [`Http2::feed`] a slot stands for one request only, because requests are begun between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A field of the response's head, `:status` first. Fields of interim heads and of trailers are left out.
    Header {
        /// Which request.
        slot: usize,
        /// In lower case.
        name: &'a [u8],
        /// As it was sent.
        value: &'a [u8],
    },
    /// The next piece of the response's body; pieces are as long as the input happens to make them.
    Body {
        /// Which request.
        slot: usize,
        /// At least one.
        bytes: &'a [u8],
    },
    /// The response is complete and the slot is free.
    Complete {
        /// Which request.
        slot: usize,
        /// Status code.
        status: u16,
    },
    /// The request failed alone and the slot is free.
    Reset {
        /// Which request.
        slot: usize,
        /// Why.
        reason: StreamError,
    },
}

/// One connection after another, each begun with [`Http2::reset`] and [`Http2::open`].
#[derive(Debug)]
pub struct Http2 {
    streams: Streams,
    /// Whether anyone wants [`Event::Header`].
    headers: bool,
    peer: PeerSettings,
    /// How many bytes of DATA the peer takes on all streams together.
    send_window: i64,
    /// How much of the connection's window that we gave the peer is used.
    window_used: u32,
    /// Slots whose bodies wait for a window, first come first.
    waiting: Vec<usize>,
    /// Whether a header block was sent on this connection.
    head_sent: bool,
    closing: bool,
    failed: Option<ProtocolError>,
    /// Frames since the last one that brought a response further.
    idle_frames: u32,
    position: Position,
    /// The beginning of a frame's head or payload that came in pieces.
    partial: Vec<u8>,
    block: Block,
    buffers: Buffers,
}

/// Where in the sequence of frames the input stands.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// Before or within the head of a frame.
    Head,
    /// Within a payload that is read as a whole.
    Payload(FrameHead),
    /// Before the byte that says how long the padding of a DATA frame is.
    PadLength(FrameHead),
    /// Within a DATA frame.
    Data { stream: u32, body: u32, padding: u32, end_stream: bool },
    /// Within padding, or a payload that means nothing; a stream other than 0 is ended with it.
    Skipped { left: u32, ended: u32 },
}

/// A header block that is not complete.
#[derive(Debug, Default)]
struct Block {
    /// 0 when there is none.
    stream: u32,
    end_stream: bool,
    bytes: Vec<u8>,
}

impl Http2 {
    /// A connection for at most `streams` requests at once, at least one, in the slots `0..streams`.
    pub fn new(streams: usize) -> Http2 {
        Http2 {
            streams: Streams::new(streams.max(1)),
            headers: true,
            peer: PeerSettings::default(),
            send_window: i64::from(DEFAULT_WINDOW),
            window_used: 0,
            waiting: Vec::with_capacity(streams),
            head_sent: false,
            closing: false,
            failed: None,
            idle_frames: 0,
            position: Position::Head,
            partial: Vec::new(),
            block: Block::default(),
            buffers: Buffers::default(),
        }
    }

    /// Makes no [`Event::Header`]. Values other than the status and the length are then neither decoded nor checked, which saves
    /// most of the work that a small response makes.
    #[must_use]
    pub fn without_headers(mut self) -> Http2 {
        self.headers = false;
        self
    }

    /// Forgets whatever was sent and read, for a new connection. Requests under way are dropped without an event.
    pub fn reset(&mut self) {
        self.streams.reset();
        self.peer = PeerSettings::default();
        self.send_window = i64::from(DEFAULT_WINDOW);
        self.window_used = 0;
        self.waiting.clear();
        self.head_sent = false;
        self.closing = false;
        self.failed = None;
        self.idle_frames = 0;
        self.position = Position::Head;
        self.partial.clear();
        self.block.stream = 0;
        self.block.bytes.clear();
    }

    /// Appends what a new connection begins with. Requests may follow it at once.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        settings::write_preface(out);
    }

    /// Whether the peer's settings have come. Before that one request at a time is begun, since a server that allows fewer than are
    /// begun refuses the rest ([`StreamError::Refused`]).
    pub fn is_ready(&self) -> bool {
        self.peer.told
    }

    /// How many more requests may be begun now.
    pub fn capacity(&self) -> usize {
        if self.closing || self.failed.is_some() {
            return 0;
        }
        let most = self.streams.len().min(self.peer.max_concurrent_streams as usize);
        most.saturating_sub(self.streams.under_way()).min(self.streams.ids_left())
    }

    /// Whether no more requests can be begun on this connection however long one waits: the peer said goodbye, stream
    /// identifiers ran out, or the connection failed. It is done with when [`Http2::under_way`] is 0.
    pub fn is_closing(&self) -> bool {
        self.closing || self.failed.is_some() || self.streams.ids_left() == 0
    }

    /// How many requests are under way.
    pub fn under_way(&self) -> usize {
        self.streams.under_way()
    }

    /// Begins a request and returns its slot; `None` when the [`capacity`](Http2::capacity) is 0. `head` comes from
    /// [`encode_head`]; `to_head` says that the method is HEAD. What the peer's windows do not allow yet of `body` is kept and
    /// sent while its answers are fed.
    pub fn request(&mut self, head: &[u8], body: &[u8], to_head: bool, out: &mut Vec<u8>) -> Option<usize> {
        if self.capacity() == 0 {
            return None;
        }
        let slot = self.streams.open(to_head, self.peer.initial_window)?;
        let stream = self.streams.get(slot);
        let max_frame_size = self.peer.max_frame_size;
        send::write_head(stream.id, head, !self.head_sent, body.is_empty(), max_frame_size, out);
        self.head_sent = true;
        let limits = send::Limits {
            stream_window: &mut stream.send_window,
            connection_window: &mut self.send_window,
            max_frame_size,
        };
        let sent = send::write_data(stream.id, body, limits, out);
        if sent < body.len() {
            stream.body.extend_from_slice(&body[sent..]);
            self.waiting.push(slot);
        }
        Some(slot)
    }

    /// Gives a request up, and tells the peer. Whatever still comes for it is ignored; the slot is free at once. Does nothing when
    /// the slot has no request.
    pub fn cancel(&mut self, slot: usize, out: &mut Vec<u8>) {
        let id = self.streams.get(slot).id;
        if id != 0 {
            frame::write_rst_stream(id, errors::code::CANCEL, out);
            self.close(slot, true);
        }
    }

    fn close(&mut self, slot: usize, given_up: bool) {
        if self.streams.get(slot).has_unsent_body() {
            self.waiting.retain(|waiting| *waiting != slot);
        }
        self.streams.close(slot, given_up);
    }

    /// Sends of the bodies that wait what the windows allow now.
    fn send_waiting(&mut self, out: &mut Vec<u8>) {
        let (streams, window) = (&mut self.streams, &mut self.send_window);
        let max_frame_size = self.peer.max_frame_size;
        let mut sent = 0;
        self.waiting.retain(|slot| {
            let stream = streams.get(*slot);
            sent += send::write_rest(stream, window, max_frame_size, out);
            stream.has_unsent_body()
        });
        if sent > 0 {
            self.idle_frames = 0;
        }
    }
}
