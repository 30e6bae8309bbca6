//! What goes wrong with a connection or takes too long, and what becomes of the requests that were under way.

use std::io;

use loadline_model::ErrorKind;

use super::source::Source;
use super::{CHECK_NS, Worker};
use crate::clock::{Nanos, now};
use crate::connection::{Protocol, State};

/// A connection that goes within this time of being opened, unused, was never a good one.
const AT_ONCE_NS: Nanos = 10_000_000;

/// A time-out is noticed this part of it late at most: looking at every connection every time would delay requests.
const TIMEOUT_SHARE: u64 = 20;

impl Worker {
    /// The service ended its side.
    pub(super) fn ended(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.pool.connections[index];
        if let Protocol::Http1(parser) = &mut connection.protocol
            && connection.under_way > 0
            && let Some(response) = parser.end()
        {
            self.tally.answered(&mut connection.exchanges[0], response.status, time);
            connection.under_way = 0;
            return self.pool.close(index, time, 0);
        }
        self.lost(index, ErrorKind::EarlyEnd, time, io::ErrorKind::UnexpectedEof.into());
    }

    /// Reading or writing failed.
    pub(super) fn broke(&mut self, index: usize, error: io::Error, time: Nanos) {
        let kind = match error.kind() {
            // TLS: the end came without its announcement; bytes that are not TLS.
            io::ErrorKind::UnexpectedEof => ErrorKind::EarlyEnd,
            io::ErrorKind::InvalidData => ErrorKind::Malformed,
            _ => ErrorKind::Reset,
        };
        self.lost(index, kind, time, error);
    }

    /// A connection is gone. Without a request under way that is nobody's failure, but one that was closed as soon as it was open
    /// is not tried again at once.
    fn lost(&mut self, index: usize, kind: ErrorKind, time: Nanos, error: io::Error) {
        let connection = &self.pool.connections[index];
        if connection.under_way > 0 {
            self.fail(index, kind, time);
        } else if connection.begun == 0 && time.saturating_sub(connection.since) < AT_ONCE_NS {
            self.pool.close_useless(index, time, error);
        } else {
            self.pool.close(index, time, 0);
        }
    }

    /// Fails whatever is under way on a connection, and closes it.
    pub(super) fn fail(&mut self, index: usize, kind: ErrorKind, time: Nanos) {
        let connection = &mut self.pool.connections[index];
        for exchange in connection.exchanges.iter_mut().filter(|exchange| exchange.under_way) {
            self.tally.failed(exchange, kind, time);
        }
        connection.under_way = 0;
        self.pool.close(index, time, 0);
    }

    /// Requests that are due while no connection can be made fail at once.
    pub(super) fn fail_cut_off(&mut self, source: &mut Source) {
        if !self.pool.is_cut_off() {
            return;
        }
        let time = now();
        while let Some(due) = source.take_scheduled(time) {
            self.tally.given_up(due, ErrorKind::Connect, time);
        }
    }

    /// Looks at a part of the connections, so that all are looked at a few times within the time-out.
    pub(super) fn check_timeouts(&mut self, source: &mut Source, time: Nanos) {
        let all = self.pool.connections.len();
        let visits = (self.timeout / TIMEOUT_SHARE / CHECK_NS).max(1) as usize;
        for _ in 0..all.div_ceil(visits) {
            let index = self.next_checked % all;
            self.next_checked = index + 1;
            self.check_timeout(index, time);
        }
        // What waited for a connection as long as a response may take is given up as well.
        let latest = time.saturating_sub(self.timeout);
        while let Some(due) = self.overflow.pop(latest).or_else(|| source.take_scheduled(latest)) {
            self.tally.given_up(due, ErrorKind::Timeout, time);
        }
    }

    fn check_timeout(&mut self, index: usize, time: Nanos) {
        let timeout = self.timeout;
        let is_old = |since: Nanos| time.saturating_sub(since) >= timeout;
        let connection = &mut self.pool.connections[index];
        let is_opening = matches!(connection.state, State::Resolving | State::Connecting | State::Securing);
        if is_opening && is_old(connection.since) {
            let error = io::ErrorKind::TimedOut.into();
            if connection.under_way > 0 {
                self.fail(index, ErrorKind::Timeout, time);
            } else {
                self.pool.close_useless(index, time, error);
            }
            return;
        }
        let Protocol::Http2(http2) = &mut connection.protocol else {
            if connection.under_way > 0 && is_old(connection.exchanges[0].since) {
                self.fail(index, ErrorKind::Timeout, time);
            }
            return;
        };
        // One late stream is no reason to end the others of its connection.
        self.pool.frames.clear();
        let mut late = false;
        for (slot, exchange) in connection.exchanges.iter_mut().enumerate() {
            if exchange.under_way && is_old(exchange.since) {
                http2.cancel(slot, &mut self.pool.frames);
                self.tally.failed(exchange, ErrorKind::Timeout, time);
                connection.under_way -= 1;
                late = true;
            }
        }
        if late {
            let sent =
                connection.transport.as_mut().map_or(Ok(true), |transport| transport.send(&self.pool.frames));
            if self.sent(index, sent, time) {
                self.settle_http2(index, time);
            }
        }
    }
}
