//! The connections of one worker: opened, offered to requests while they are free, closed, and opened again.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use loadline_model::load::Reuse;
use loadline_model::{Record, record_time};
use rustix::event::epoll::EventFlags;

use crate::clock::{Nanos, now};
use crate::connection::{Connection, Exchange, Protocol, State};
use crate::dial::Dialer;
use crate::http1::ResponseParser;
use crate::http2::Http2;
use crate::pause_watch::PauseWatch;
use crate::poller::{Patience, Poller};
use crate::resolver::Resolver;
use crate::thinking::Thinking;

/// How long after a failed handshake the next one begins.
const RETRY_NS: Nanos = 10_000_000;

/// How long a service that said it would close is waited for.
const DRAIN_NS: Nanos = 20_000_000;

/// Handshakes under way at once: more would overflow a service's queue of connections to accept (listen(2): 4,096 at most by
/// default, often 128 or 511), and a dropped SYN is sent again only after a second.
const MOST_OPENING: usize = 100;

/// Event tokens of what is no connection; those count from 0.
const RESOLVER: usize = usize::MAX;
const BELL: usize = usize::MAX - 1;

/// What an event was about.
pub enum Event {
    /// This connection has something to read, or will have no more.
    Readable { index: usize, ending: bool },
    /// What was left of a request could not be sent on this connection.
    Broken { index: usize, error: io::Error },
    /// This connection has become open.
    Opened(usize),
    /// This connection could not be opened.
    Failed(usize),
    /// Nothing that concerns a request.
    Nothing,
}

/// The connections.
pub struct Pool {
    pub connections: Vec<Connection>,
    poller: Poller,
    dialer: Dialer,
    resolver: Option<Resolver>,
    reuse: Reuse,
    /// Connections that could take a request, each as often as it could take one; the longest free comes first.
    free: VecDeque<usize>,
    /// Users between two requests of a closed loop; without, they don't think.
    thinking: Option<Thinking>,
    /// Closed connections in the order in which they may be opened again.
    closed: VecDeque<usize>,
    /// Connections whose end is waited for, in the order in which that began.
    draining: VecDeque<usize>,
    /// Handshakes under way.
    opening: usize,
    /// Why the last handshake failed.
    pub last_error: Option<io::Error>,
    /// Bytes of HTTP/2 on their way to a socket.
    pub frames: Vec<u8>,
}

impl Pool {
    /// `streams`: requests at once on an HTTP/2 connection; `None` for HTTP/1.1. `exchange` makes the place of one request.
    pub fn new(
        dialer: Dialer,
        connections: usize,
        streams: Option<usize>,
        reuse: Reuse,
        exchange: impl Fn() -> Exchange,
    ) -> io::Result<Pool> {
        let connection = |_| {
            let exchanges: Box<[Exchange]> = (0..streams.unwrap_or(1)).map(|_| exchange()).collect();
            let protocol = match streams {
                None => Protocol::Http1(ResponseParser::default()),
                Some(streams) if exchanges.iter().any(|exchange| exchange.check.is_some()) => {
                    Protocol::Http2(Box::new(Http2::new(streams)))
                }
                Some(streams) => Protocol::Http2(Box::new(Http2::new(streams).without_headers())),
            };
            Connection::new(protocol, exchanges)
        };
        let poller = Poller::new()?;
        let resolver = match dialer.name() {
            Some((host, port)) => {
                let resolver = Resolver::start(host.to_owned(), port)?;
                poller.add(&resolver, RESOLVER, false)?;
                Some(resolver)
            }
            None => None,
        };
        Ok(Pool {
            connections: (0..connections).map(connection).collect(),
            poller,
            dialer,
            resolver,
            reuse,
            free: VecDeque::with_capacity(connections * streams.unwrap_or(1)),
            thinking: None,
            closed: (0..connections).collect(),
            draining: VecDeque::with_capacity(connections),
            opening: 0,
            last_error: None,
            frames: Vec::new(),
        })
    }

    /// Whether a request that is begun as the `begun`-th of its connection (from 1) is the last one there.
    pub fn is_last(&self, begun: u64) -> bool {
        match self.reuse {
            Reuse::Always => false,
            Reuse::Times(times) => begun >= times,
            Reuse::Never => true,
        }
    }

    /// Whether a connection has carried all the requests that it may.
    pub fn is_used_up(&self, index: usize) -> bool {
        let begun = self.connections[index].begun;
        begun > 0 && self.is_last(begun)
    }

    /// Whether a request could be begun now.
    pub fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// Whether every connection is open, or may be opened on demand.
    pub fn is_complete(&self) -> bool {
        self.not_open() == 0
    }

    /// How many connections are closed, or on their way from or to that.
    pub fn not_open(&self) -> usize {
        self.closed.len() + self.opening + self.draining.len()
    }

    /// Whether there is no connection, none is about to be, and the last attempt failed.
    pub fn is_cut_off(&self) -> bool {
        self.closed.len() == self.connections.len() && self.last_error.is_some()
    }

    /// The connection that has been free the longest.
    #[inline]
    pub fn first_free(&mut self) -> Option<usize> {
        while let Some(index) = self.free.front().copied() {
            let connection = &self.connections[index];
            // It may have been closed since; the limit of an HTTP/2 peer may have shrunk, or it may be going away.
            let usable = connection.state == State::Open || self.reuse == Reuse::Never;
            if usable && connection.capacity() > 0 && !self.is_used_up(index) {
                return Some(index);
            }
            self.take_first_free();
        }
        None
    }

    /// Takes the first of the free connections out of their queue.
    #[inline]
    pub fn take_first_free(&mut self) {
        if let Some(index) = self.free.pop_front() {
            self.connections[index].offers -= 1;
        }
    }

    /// Offers a connection as often as it could take a request.
    #[inline]
    pub fn offer(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.connections[index];
        let capacity = connection.capacity();
        // Offers of an earlier life may still stand in the queue: then they serve again, in their old place.
        if connection.offers == 0 || connection.begun == 0 {
            connection.free_since = time;
        }
        while connection.offers < capacity {
            connection.offers += 1;
            match &mut self.thinking {
                None => self.free.push_back(index),
                Some(thinking) => thinking.begin(index, time),
            }
        }
    }

    /// Has users think before each request from now on, those of the free connections too; `None` ends that.
    pub fn set_thinking(&mut self, thinking: Option<Thinking>, time: Nanos) {
        self.end_thinking(Nanos::MAX);
        self.thinking = thinking;
        if let Some(thinking) = &mut self.thinking {
            self.free.drain(..).for_each(|index| thinking.begin_amid(index, time));
        }
    }

    /// Frees the connections of the users who have thought enough.
    #[inline]
    pub fn end_thinking(&mut self, time: Nanos) {
        let Some(thinking) = &mut self.thinking else { return };
        while let Some((index, at)) = thinking.done(time) {
            self.connections[index].free_since = at;
            self.free.push_back(index);
        }
    }

    /// When the next user has thought enough.
    pub fn thinks_until(&self) -> Option<Nanos> {
        self.thinking.as_ref().and_then(Thinking::next_at)
    }

    /// Opens, or offers, the closed connections whose time comes before `until`.
    #[inline]
    pub fn reopen(&mut self, until: Nanos) {
        if !self.closed.is_empty() || !self.draining.is_empty() {
            self.reopen_some(until);
        }
    }

    fn reopen_some(&mut self, until: Nanos) {
        let time = now();
        // Counted first: what can't be opened at all is back in the queue at once.
        for _ in 0..self.closed.len() {
            let index = self.closed[0];
            if self.connections[index].since > until || self.opening >= MOST_OPENING {
                break;
            }
            self.closed.pop_front();
            if self.reuse == Reuse::Never {
                self.offer(index, time);
            } else {
                self.open(index, time);
            }
        }
        while let Some(index) = self.draining.front().copied() {
            if self.connections[index].since.saturating_add(DRAIN_NS) > until {
                break;
            }
            self.close(index, time, 0);
        }
    }

    /// Begins to open a connection. A failure is told as an event would be: in `last_error`, and by the state.
    pub fn open(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.connections[index];
        connection.since = time;
        self.opening += 1;
        let result = match &self.resolver {
            Some(resolver) => {
                connection.state = State::Resolving;
                resolver.ask(index)
            }
            None => self.dial(index, None),
        };
        if let Err(error) = result {
            self.fail_to_open(index, error);
        }
    }

    fn dial(&mut self, index: usize, found: Option<SocketAddr>) -> io::Result<()> {
        let transport = self.dialer.dial(found)?;
        self.poller.add(&transport, index, true)?;
        let connection = &mut self.connections[index];
        connection.transport = Some(transport);
        connection.state = State::Connecting;
        match &mut connection.protocol {
            Protocol::Http1(parser) => parser.reset(),
            Protocol::Http2(http2) => http2.reset(),
        }
        Ok(())
    }

    fn fail_to_open(&mut self, index: usize, error: io::Error) {
        self.opening -= 1;
        self.last_error = Some(error);
        self.shut(index, now() + RETRY_NS);
    }

    /// Closes a connection, to be opened again after a while. Closing the socket also ends its registration with epoll.
    pub fn close(&mut self, index: usize, time: Nanos, pause: Nanos) {
        match self.connections[index].state {
            State::Closed => return,
            State::Resolving | State::Connecting | State::Securing => self.opening -= 1,
            State::Open => {}
            State::Draining => self.draining.retain(|draining| *draining != index),
        }
        self.shut(index, time + pause);
    }

    fn shut(&mut self, index: usize, retry_at: Nanos) {
        let connection = &mut self.connections[index];
        connection.transport = None;
        connection.state = State::Closed;
        connection.since = retry_at;
        connection.begun = 0;
        // Almost always at the end: all pauses are alike, and those without one are opened before the next is closed.
        let place = self.closed.partition_point(|closed| self.connections[*closed].since <= retry_at);
        self.closed.insert(place, index);
    }

    /// Closes a connection that has done nothing since it was opened; soon again would only repeat it.
    pub fn close_useless(&mut self, index: usize, time: Nanos, error: io::Error) {
        self.last_error = Some(error);
        self.close(index, time, RETRY_NS);
    }

    /// Waits for the service to close a connection.
    pub fn drain(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.connections[index];
        connection.state = State::Draining;
        connection.since = time;
        self.draining.push_back(index);
    }

    /// Has [`Pool::wait`] end when `bell` is rung.
    pub fn listen(&self, bell: BorrowedFd<'_>) -> io::Result<()> {
        self.poller.add(bell, BELL, false)
    }

    /// Waits for events; see [`Poller::wait`].
    pub fn wait(&mut self, deadline: Nanos, patience: Patience) -> io::Result<usize> {
        self.poller.wait(deadline, patience)
    }

    /// See [`Poller::take_spun`].
    pub fn take_spun(&mut self) -> Nanos {
        self.poller.take_spun()
    }

    /// See [`Poller::pauses`].
    pub fn pauses(&mut self) -> &mut PauseWatch {
        self.poller.pauses()
    }

    /// Takes an event of the last wait as far as handshakes and sending go; the times of handshakes go into `record`.
    #[inline]
    pub fn event(&mut self, event: usize, record: &mut Record) -> Event {
        let (index, flags) = self.poller.event(event);
        if index >= BELL {
            if index == RESOLVER {
                self.take_addresses(record);
            }
            return Event::Nothing;
        }
        let ending = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        let connection = &mut self.connections[index];
        match connection.state {
            State::Open | State::Draining => {
                if flags.contains(EventFlags::OUT)
                    && let Err(error) = self.flush(index)
                {
                    return Event::Broken { index, error };
                }
                Event::Readable { index, ending }
            }
            State::Connecting | State::Securing => match self.go_on(index, flags, record) {
                Ok(true) => Event::Opened(index),
                Ok(false) => Event::Nothing,
                Err(error) => {
                    self.fail_to_open(index, error);
                    Event::Failed(index)
                }
            },
            // Its socket is gone, and so is what the event said of it.
            State::Closed | State::Resolving => Event::Nothing,
        }
    }

    /// Asks to be told when a connection has room for what it did not take.
    pub fn want_room(&self, index: usize) -> io::Result<()> {
        match &self.connections[index].transport {
            Some(transport) => self.poller.modify(transport, index, true),
            None => Ok(()),
        }
    }

    fn flush(&mut self, index: usize) -> io::Result<()> {
        let Some(transport) = &mut self.connections[index].transport else { return Ok(()) };
        if transport.flush()? { self.poller.modify(&*transport, index, false) } else { Ok(()) }
    }

    fn take_addresses(&mut self, record: &mut Record) {
        while let Some(found) = self.resolver.as_ref().and_then(Resolver::answer) {
            let connection = &mut self.connections[found.index];
            if connection.state != State::Resolving {
                continue;
            }
            let time = now();
            record_time(&mut record.resolve, time - connection.since);
            connection.since = time;
            if let Err(error) = found.address.and_then(|address| self.dial(found.index, Some(address))) {
                self.fail_to_open(found.index, error);
            }
        }
    }

    /// The next step towards an open connection; `true` when it is one.
    fn go_on(&mut self, index: usize, flags: EventFlags, record: &mut Record) -> io::Result<bool> {
        let connection = &mut self.connections[index];
        let Some(transport) = &mut connection.transport else { return Ok(false) };
        if connection.state == State::Connecting {
            if !flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR) {
                return Ok(false);
            }
            transport.connect_result()?;
            let time = now();
            record_time(&mut record.connect, time - connection.since);
            connection.since = time;
            connection.state = State::Securing;
        }
        if transport.needs_handshake() {
            if !transport.handshake()? {
                return Ok(false);
            }
            let time = now();
            record_time(&mut record.handshake, time - connection.since);
            connection.since = time;
        }
        connection.state = State::Open;
        connection.since = now();
        self.opening -= 1;
        record.reconnects += 1;
        if let Protocol::Http2(http2) = &mut connection.protocol {
            self.frames.clear();
            http2.open(&mut self.frames);
            transport.send(&self.frames)?;
        }
        let room = !transport.is_flushed();
        self.poller.modify(&*transport, index, room)?;
        Ok(true)
    }
}
