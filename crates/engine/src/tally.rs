//! The books of a slice: every request that is due is entered once, and leaves once, as answered or as failed.

use std::sync::Arc;

use loadline_model::{ErrorKind, Record, record_time};

use crate::clock::Nanos;
use crate::connection::Exchange;
use crate::expect::{Expectation, Failed};
use crate::schedule::Due;

/// A request due at the very end of a slice may leave this much later and still be in time.
const GRACE_NS: Nanos = 1_000_000;

/// Weight of the newest service time in the running mean, as a shift: 1/8, as TCP smooths its round trips (RFC 6298).
const SMOOTHING: u32 = 3;

/// Entries of one worker.
pub struct Tally {
    pub record: Record,
    /// How many requests are under way.
    pub in_flight: usize,
    /// When the slice under way ends.
    pub end: Nanos,
    pub closed_loop: bool,
    /// Whether a request is due when its user has thought, rather than when it can be sent.
    pub thinks: bool,
    /// Smoothed service time.
    pub typical_service: Nanos,
    expectation: Arc<Expectation>,
}

impl Tally {
    pub fn new(requests: usize, expectation: Arc<Expectation>) -> Tally {
        Tally {
            record: Record::of_requests(requests),
            in_flight: 0,
            end: 0,
            closed_loop: false,
            thinks: false,
            typical_service: 0,
            expectation,
        }
    }

    /// A request was begun at `time` on a connection that had been free since `free_since`.
    #[inline]
    pub fn begun(&mut self, due: Due, free_since: Nanos, time: Nanos) {
        self.record.keep_lag(time.saturating_sub(due.at.max(free_since)));
        self.in_flight += 1;
        if free_since > due.at {
            self.record.waited += 1;
            record_time(&mut self.record.wait, free_since - due.at);
        }
        self.record.sent_in_time += u64::from(time <= self.end + GRACE_NS);
    }

    /// The response of an exchange was complete at `time`.
    #[inline]
    pub fn answered(&mut self, exchange: &mut Exchange, status: u16, time: Nanos) {
        let service = time.saturating_sub(exchange.since);
        let response = time.saturating_sub(exchange.due);
        self.record.keep(exchange.request, response, service);
        self.record.slowest.keep(exchange.due, response);
        self.typical_service =
            self.typical_service - (self.typical_service >> SMOOTHING) + (service >> SMOOTHING);
        // An open loop begins with nothing under way: to cut off what is under way at its end would make a slow service look as
        // if it had been asked for less.
        let in_time = if self.closed_loop { time <= self.end } else { exchange.since <= self.end + GRACE_NS };
        self.record.answered_in_time += u64::from(in_time);
        let verdict = match &mut exchange.check {
            Some(check) => check.finish(status),
            None => self.expectation.judge_status(status),
        };
        if let Err(failed) = verdict {
            match failed {
                Failed::Status => self.record.errors.count_status(exchange.request, status),
                Failed::Header => self.record.errors.count(ErrorKind::Header),
                Failed::Body => self.record.errors.count(ErrorKind::Body),
            }
        }
        self.leave(exchange);
    }

    /// An exchange came to nothing.
    pub fn failed(&mut self, exchange: &mut Exchange, kind: ErrorKind, time: Nanos) {
        if kind == ErrorKind::Timeout {
            let response = time.saturating_sub(exchange.due);
            self.record.keep_response(exchange.request, response);
            self.record.slowest.keep(exchange.due, response);
        }
        self.record.errors.count(kind);
        self.leave(exchange);
    }

    /// A request that was begun is to be begun anew.
    pub fn withdrawn(&mut self, exchange: &mut Exchange) {
        self.record.due -= 1;
        self.record.sent_in_time -= u64::from(exchange.since <= self.end + GRACE_NS);
        self.leave(exchange);
    }

    /// A request was never begun.
    pub fn given_up(&mut self, due: Due, kind: ErrorKind, time: Nanos) {
        self.record.due += 1;
        if kind == ErrorKind::Timeout {
            record_time(&mut self.record.response, time.saturating_sub(due.at));
        }
        self.record.errors.count(kind);
    }

    fn leave(&mut self, exchange: &mut Exchange) {
        exchange.under_way = false;
        self.in_flight -= 1;
    }
}
