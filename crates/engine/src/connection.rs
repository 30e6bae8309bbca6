//! One connection: its bytes, its protocol, and the requests that are under way on it.

use crate::clock::Nanos;
use crate::expect::Check;
use crate::http1::ResponseParser;
use crate::http2::Http2;
use crate::schedule::Due;
use crate::transport::Transport;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no socket.
    Closed,
    /// Its name is being looked up.
    Resolving,
    /// The handshake of TCP is under way.
    Connecting,
    /// The handshake of TLS is under way.
    Securing,
    /// Requests can be sent.
    Open,
    /// The service said that it will close; its doing so is waited for, so that the port waits out TIME_WAIT on its side.
    Draining,
}

/// The protocol of a connection, with where its input stands.
#[derive(Debug)]
pub enum Protocol {
    Http1(ResponseParser),
    Http2(Box<Http2>),
}

/// One request and its response: the only one of an HTTP/1.1 connection, one of many on HTTP/2.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Whether there is one.
    pub under_way: bool,
    /// Whether an HTTP/2 service has just refused it, without having looked at it.
    pub is_refused: bool,
    /// Which request of the mix.
    pub request: usize,
    /// Its place in the schedule.
    pub number: u64,
    /// When it was due.
    pub due: Nanos,
    /// When it was written; until then, when its connection was asked for.
    pub since: Nanos,
    /// What was seen of its response, when more than the status is checked.
    pub check: Option<Box<Check>>,
}

impl Exchange {
    /// Makes this the exchange of a request that is written, or whose connection is asked for, at `time`.
    #[inline]
    pub fn begin(&mut self, due: Due, time: Nanos) {
        self.under_way = true;
        self.request = due.request;
        self.number = due.number;
        self.due = due.at;
        self.since = time;
        if let Some(check) = &mut self.check {
            check.reset();
        }
    }

    /// The kernel says when the request went: the system call before that is time of the generator's own, and counts neither in the
    /// service time nor in the response time.
    pub fn transmitted(&mut self, at: Nanos) {
        self.due += at.saturating_sub(self.since);
        self.since = self.since.max(at);
    }
}

/// One connection of a worker, used again after each reconnect.
#[derive(Debug)]
pub struct Connection {
    pub transport: Option<Transport>,
    pub state: State,
    pub protocol: Protocol,
    pub exchanges: Box<[Exchange]>,
    /// Exchanges under way.
    pub under_way: usize,
    /// Requests begun since it was opened.
    pub begun: u64,
    /// How often it stands in the queue of free connections: once for each request that it could take.
    pub offers: usize,
    /// Whether it has more to read than it got a turn for.
    pub is_unread: bool,
    /// When it last became free.
    pub free_since: Nanos,
    /// When its state began; for a closed one, when it may be opened again.
    pub since: Nanos,
}

impl Connection {
    pub fn new(protocol: Protocol, exchanges: Box<[Exchange]>) -> Connection {
        Connection {
            transport: None,
            state: State::Closed,
            protocol,
            exchanges,
            under_way: 0,
            begun: 0,
            offers: 0,
            is_unread: false,
            free_since: 0,
            since: 0,
        }
    }

    /// How many more requests it could take now.
    pub fn capacity(&self) -> usize {
        match &self.protocol {
            Protocol::Http1(_) => 1 - self.under_way,
            Protocol::Http2(http2) => http2.capacity(),
        }
    }

    /// Whether everything that was to be sent has left.
    pub fn is_flushed(&self) -> bool {
        self.transport.as_ref().is_some_and(Transport::is_flushed)
    }
}
