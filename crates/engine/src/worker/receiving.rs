//! Reading: bytes of a connection become answers, in either protocol, and a connection that is done is offered again.

use std::io;

use loadline_model::ErrorKind;

use super::Worker;
use crate::clock::{Nanos, now};
use crate::connection::Protocol;
use crate::http1::{Part, Progress};
use crate::http2::{Event as Frame, StreamError};
use crate::schedule::Due;
use crate::transport::Received;

/// Reads of one connection in a row, so that one that never ends delays the others by no more than a megabyte's copying.
const MOST_READS: usize = 16;

impl Worker {
    /// Reads until nothing is left, or, unless the connection is `ending`, until a read comes up short. A peer that sends without end
    /// gets another turn later.
    pub(super) fn receive(&mut self, index: usize, ending: bool) {
        for read in 0..MOST_READS {
            let connection = &mut self.pool.connections[index];
            let Some(transport) = &mut connection.transport else { return };
            match transport.receive(&mut self.buffer) {
                Ok(Received::Nothing) => return,
                Ok(Received::Bytes { count, more, at }) => {
                    self.tally.record.received_bytes += count as u64;
                    let is_http2 = matches!(connection.protocol, Protocol::Http2(_));
                    // The first is part of handling its event.
                    self.pool.pauses().worked(usize::from(read > 0));
                    let open = if is_http2 {
                        self.take_http2(index, count, at)
                    } else {
                        self.take_http1(index, count, at)
                    };
                    if !open || !(more || ending) {
                        return;
                    }
                }
                Ok(Received::End) => return self.ended(index, now()),
                Err(error) => return self.broke(index, error, now()),
            }
        }
        self.pool.connections[index].is_unread = true;
        self.unread.push_back(index);
    }

    /// Takes bytes of an HTTP/1.x response; `false` when the connection is not to be read from any more.
    #[inline]
    fn take_http1(&mut self, index: usize, count: usize, time: Nanos) -> bool {
        let connection = &mut self.pool.connections[index];
        let Protocol::Http1(parser) = &mut connection.protocol else { return false };
        if connection.under_way == 0 {
            // Bytes that nobody asked for.
            self.tally.record.unsolicited += 1;
            self.pool.close_useless(index, time, io::ErrorKind::InvalidData.into());
            return false;
        }
        let exchange = &mut connection.exchanges[0];
        let to_head = self.mix.is_head(exchange.request);
        let input = &self.buffer[..count];
        let known = if self.watches_headers { None } else { Some(&mut self.known_head) };
        let progress = match &mut exchange.check {
            None => parser.feed(input, to_head, known, &mut |_| {}),
            Some(check) => parser.feed(input, to_head, known, &mut |part| match part {
                Part::Header { name, value } => check.header(name, value),
                Part::Body(bytes) => check.body(bytes),
            }),
        };
        match progress {
            Ok(Progress::Partial) => true,
            Ok(Progress::Complete(response)) if response.consumed == count => {
                self.tally.answered(exchange, response.status, time);
                connection.under_way = 0;
                // A response to half a request leaves the connection in no state to go on.
                let is_flushed = connection.is_flushed();
                let is_last = self.pool.is_last(self.pool.connections[index].begun);
                if !is_flushed {
                    self.pool.close(index, time, 0);
                } else if is_last || !response.keep_alive {
                    self.pool.drain(index, time);
                    return true;
                } else {
                    self.pool.offer(index, time);
                    return true;
                }
                false
            }
            Ok(Progress::Complete(_)) | Err(_) => {
                self.fail(index, ErrorKind::Malformed, time);
                false
            }
        }
    }

    /// Takes bytes of HTTP/2; `false` when the connection is not to be read from any more.
    fn take_http2(&mut self, index: usize, count: usize, time: Nanos) -> bool {
        let pool = &mut self.pool;
        let connection = &mut pool.connections[index];
        let Protocol::Http2(http2) = &mut connection.protocol else { return false };
        let (exchanges, under_way, tally) =
            (&mut connection.exchanges, &mut connection.under_way, &mut self.tally);
        pool.frames.clear();
        let result = http2.feed(&self.buffer[..count], &mut pool.frames, &mut |frame| match frame {
            Frame::Header { slot, name, value } => {
                if let Some(check) = &mut exchanges[slot].check {
                    check.header(name, value);
                }
            }
            Frame::Body { slot, bytes } => {
                if let Some(check) = &mut exchanges[slot].check {
                    check.body(bytes);
                }
            }
            Frame::Complete { slot, status } => {
                tally.answered(&mut exchanges[slot], status, time);
                *under_way -= 1;
            }
            Frame::Reset { slot, reason: StreamError::Refused } => exchanges[slot].is_refused = true,
            Frame::Reset { slot, reason } => {
                let kind = match reason {
                    StreamError::Reset(_) => ErrorKind::Reset,
                    _ => ErrorKind::Malformed,
                };
                tally.failed(&mut exchanges[slot], kind, time);
                *under_way -= 1;
            }
        });
        let is_going = http2.is_closing();
        for exchange in exchanges.iter_mut().filter(|exchange| exchange.is_refused) {
            exchange.is_refused = false;
            *under_way -= 1;
            if is_going && time.saturating_sub(exchange.due) < self.timeout {
                // A service that goes away says which requests it has not looked at: they may be sent again elsewhere, and are as late
                // as that makes them (RFC 9113, sections 6.8 and 8.7).
                self.overflow.push(Due {
                    at: exchange.due,
                    request: exchange.request,
                    number: exchange.number,
                });
                tally.withdrawn(exchange);
            } else {
                tally.failed(exchange, ErrorKind::Reset, time);
            }
        }
        let sent = match &mut connection.transport {
            Some(transport) if !pool.frames.is_empty() => transport.send(&pool.frames),
            _ => Ok(true),
        };
        if result.is_err() {
            self.fail(index, ErrorKind::Malformed, time);
            return false;
        }
        self.sent(index, sent, time) && self.settle_http2(index, time)
    }

    /// Offers an HTTP/2 connection again, or closes it when its last request is answered; `false` when it is closed.
    pub(super) fn settle_http2(&mut self, index: usize, time: Nanos) -> bool {
        let connection = &self.pool.connections[index];
        let Protocol::Http2(http2) = &connection.protocol else { return false };
        if http2.is_closing() || self.pool.is_used_up(index) {
            if connection.under_way == 0 {
                self.pool.close(index, time, 0);
                return false;
            }
        } else {
            self.pool.offer(index, time);
        }
        true
    }
}
