//! A worker: one thread, one epoll loop, its share of the connections and of the schedule.

mod source;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustix::time::{ClockId, clock_gettime};

use crate::clock::{Nanos, nanos, now};
use crate::connection::{Connection, State};
use crate::endpoint::Endpoint;
use crate::errors::ErrorKind;
use crate::http1::Progress;
use crate::load::Load;
use crate::mix::Mix;
use crate::poller::Poller;
use crate::record::Record;
use crate::slice::SliceSpec;
use source::Source;

/// Read at most this much at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// How long after a failed handshake the next one begins.
const RETRY_NS: Nanos = 10_000_000;

/// How often time-outs, retries and the stop flag are looked at.
const CHECK_NS: Nanos = 10_000_000;

/// A request due at the very end of a slice may leave this much later and still be in time.
const GRACE_NS: Nanos = 1_000_000;

/// Which part of a schedule a worker takes: every `of`-th request, from `index` on.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

/// One worker. All that a request needs is allocated before the first one is sent.
pub struct Worker {
    endpoint: Endpoint,
    mix: Mix,
    share: Share,
    timeout: Nanos,
    stop: Arc<AtomicBool>,
    poller: Poller,
    connections: Vec<Connection>,
    idle: VecDeque<usize>,
    /// How many connections are busy.
    in_flight: usize,
    buffer: Box<[u8]>,
    record: Record,
    /// When the slice under way ends.
    end: Nanos,
    closed_loop: bool,
    last_connect_error: Option<io::Error>,
}

impl Worker {
    pub fn new(
        endpoint: Endpoint,
        mix: Mix,
        share: Share,
        connections: usize,
        timeout: Duration,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Worker> {
        Ok(Worker {
            endpoint,
            mix,
            share,
            timeout: nanos(timeout),
            stop,
            poller: Poller::new()?,
            connections: (0..connections).map(|_| Connection::new()).collect(),
            idle: VecDeque::with_capacity(connections),
            in_flight: 0,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            record: Record::new(0, Duration::ZERO),
            end: 0,
            closed_loop: false,
            last_connect_error: None,
        })
    }

    /// Opens what is not open. An error means that after the time-out some could not be, or at once that none can.
    pub fn prepare(&mut self) -> io::Result<()> {
        self.last_connect_error = None;
        let deadline = now() + self.timeout;
        // Connections that the service closed since the last slice are found and replaced here.
        self.take_events(0)?;
        self.reopen_closed(Nanos::MAX);
        while self.idle.len() < self.connections.len() && now() < deadline && !self.stopped() {
            if self.last_connect_error.is_some() && self.idle.is_empty() {
                break;
            }
            self.take_events(now() + CHECK_NS)?;
            self.reopen_closed(now());
        }
        if self.idle.len() == self.connections.len() || self.stopped() {
            self.last_connect_error = None;
            return Ok(());
        }
        let cause = self.last_connect_error.take().unwrap_or(io::ErrorKind::TimedOut.into());
        let (open, wanted) = (self.idle.len(), self.connections.len());
        Err(io::Error::new(cause.kind(), format!("{open} of {wanted} connections could be opened: {cause}")))
    }

    /// Drives one slice that starts at `start` and returns its record.
    pub fn run(&mut self, slice: &SliceSpec, start: Nanos) -> io::Result<Record> {
        self.end = start + nanos(slice.offset + slice.duration);
        self.closed_loop = matches!(slice.load, Load::Closed);
        self.record = Record::new(start, slice.duration);
        let mut source = Source::new(slice, &self.mix, self.share, start);
        let cpu_before = thread_cpu();
        let mut next_check = start + CHECK_NS;
        loop {
            let mut time = now();
            if time >= start {
                time = self.send_due(&mut source, time)?;
            }
            if self.in_flight == 0 && source.is_over(time) && time >= self.end {
                break;
            }
            if time >= next_check {
                next_check = time + CHECK_NS;
                if self.stopped() {
                    self.abandon(time, start);
                    break;
                }
                self.check_timeouts(&mut source, time);
                self.reopen_closed(time);
            }
            let wake = match source.next_at() {
                _ if time < start => start,
                Some(due) if !self.idle.is_empty() => due.min(next_check),
                None if time < self.end => next_check.min(self.end),
                _ => next_check,
            };
            self.take_events(wake)?;
            self.fail_unconnectable(&mut source);
        }
        self.record.cpu_ns = thread_cpu() - cpu_before;
        Ok(std::mem::replace(&mut self.record, Record::new(0, Duration::ZERO)))
    }

    /// Sends all that is due while connections are free; returns the time after it.
    fn send_due(&mut self, source: &mut Source, mut time: Nanos) -> io::Result<Nanos> {
        while let Some(due) = source.due(time) {
            let Some(index) = self.idle.pop_front() else { break };
            source.advance();
            self.record.due += 1;
            let connection = &mut self.connections[index];
            let ready = due.at.max(connection.free_since);
            connection.state = State::Busy;
            connection.request = due.request;
            connection.written_bytes = 0;
            connection.due = due.at;
            connection.since = time;
            self.in_flight += 1;
            record_time(&mut self.record.send_lag, time.saturating_sub(ready));
            self.record.waited += u64::from(connection.free_since > due.at);
            self.record.sent_in_time += u64::from(time <= self.end + GRACE_NS);
            self.continue_writing(index);
            time = now();
        }
        Ok(time)
    }

    /// Writes what the socket takes; asks to be told of room when that is not all.
    fn continue_writing(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let was_partial = connection.written_bytes > 0;
        let result = connection.write(self.mix.bytes(connection.request)).and_then(|complete| {
            match &connection.socket {
                // Registration changes only for requests larger than the socket's buffer.
                Some(socket) if !complete && !was_partial => self.poller.modify(socket, index, true),
                Some(socket) if complete && was_partial => self.poller.modify(socket, index, false),
                _ => Ok(()),
            }
        });
        if result.is_err() {
            self.fail(index, ErrorKind::Reset);
        }
    }

    /// Waits for events until `wake` and handles them.
    fn take_events(&mut self, wake: Nanos) -> io::Result<()> {
        let count = self.poller.wait(wake)?;
        for event in 0..count {
            let (index, flags) = self.poller.event(event);
            match self.connections[index].state {
                // Its socket is gone, and so is what the event said of it.
                State::Closed => {}
                State::Connecting => self.finish_handshake(index),
                State::Idle => self.take_unasked(index),
                State::Busy => {
                    if flags.contains(EventFlags::OUT) && !self.all_written(index) {
                        self.continue_writing(index);
                    }
                    let readable = flags.intersects(!EventFlags::OUT);
                    if readable && self.connections[index].state == State::Busy {
                        self.receive(index);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish_handshake(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let result = connection.handshake_result().and_then(|()| match &connection.socket {
            Some(socket) => self.poller.modify(socket, index, false),
            None => Ok(()),
        });
        match result {
            Ok(()) => self.set_idle(index, now()),
            Err(error) => self.retry_later(index, error),
        }
    }

    /// Something came in without a request: the end of the connection, or bytes that nobody asked for.
    fn take_unasked(&mut self, index: usize) {
        match self.connections[index].read(&mut self.buffer) {
            Ok(None) => return,
            Ok(Some(0)) | Err(_) => {}
            Ok(Some(_)) => self.record.errors.count(ErrorKind::Malformed),
        }
        self.idle.retain(|idle| *idle != index);
        self.reconnect(index);
    }

    fn receive(&mut self, index: usize) {
        loop {
            let connection = &mut self.connections[index];
            let count = match connection.read(&mut self.buffer) {
                Ok(None) => return,
                Ok(Some(count)) => count,
                Err(_) => return self.fail(index, ErrorKind::Reset),
            };
            let time = now();
            if count == 0 {
                return match connection.parser.end() {
                    Some(response) => self.complete(index, response.status, false, time),
                    None => self.fail(index, ErrorKind::EarlyEnd),
                };
            }
            self.record.received_bytes += count as u64;
            let to_head = self.mix.is_head(connection.request);
            match connection.parser.feed(&self.buffer[..count], to_head) {
                Ok(Progress::Complete(response)) if response.consumed == count => {
                    return self.complete(index, response.status, response.keep_alive, time);
                }
                Ok(Progress::Complete(_)) | Err(_) => return self.fail(index, ErrorKind::Malformed),
                // A full buffer means that there is more; else the next event tells.
                Ok(Progress::Partial) if count < self.buffer.len() => return,
                Ok(Progress::Partial) => {}
            }
        }
    }

    fn complete(&mut self, index: usize, status: u16, keep_alive: bool, time: Nanos) {
        let connection = &self.connections[index];
        record_time(&mut self.record.response, time.saturating_sub(connection.due));
        record_time(&mut self.record.service, time.saturating_sub(connection.since));
        self.record.answered += 1;
        // An open loop begins with nothing under way: to cut off what is under way at its end would make a slow service look as
        // if it had been asked for less.
        let in_time =
            if self.closed_loop { time <= self.end } else { connection.since <= self.end + GRACE_NS };
        self.record.answered_in_time += u64::from(in_time);
        if !(200..=299).contains(&status) {
            self.record.errors.count(ErrorKind::Status);
        }
        self.in_flight -= 1;
        // A response to half a request leaves the connection in no state to go on.
        if keep_alive && self.all_written(index) { self.set_idle(index, time) } else { self.reconnect(index) }
    }

    fn all_written(&self, index: usize) -> bool {
        let connection = &self.connections[index];
        connection.written_bytes == self.mix.bytes(connection.request).len()
    }

    fn fail(&mut self, index: usize, kind: ErrorKind) {
        self.record.errors.count(kind);
        self.in_flight -= 1;
        self.reconnect(index);
    }

    fn set_idle(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.connections[index];
        connection.state = State::Idle;
        connection.free_since = time;
        self.idle.push_back(index);
    }

    fn reconnect(&mut self, index: usize) {
        self.connections[index].close();
        self.record.reconnects += 1;
        self.open(index, now());
    }

    fn open(&mut self, index: usize, time: Nanos) {
        let connection = &mut self.connections[index];
        let result = connection.open(&self.endpoint, time).and_then(|()| match &connection.socket {
            Some(socket) => self.poller.add(socket, index, true),
            None => Ok(()),
        });
        if let Err(error) = result {
            self.retry_later(index, error);
        }
    }

    fn retry_later(&mut self, index: usize, error: io::Error) {
        self.connections[index].close();
        self.connections[index].retry_at = now() + RETRY_NS;
        self.last_connect_error = Some(error);
    }

    /// Opens the closed connections whose time has come.
    fn reopen_closed(&mut self, time: Nanos) {
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            if connection.state == State::Closed && connection.retry_at <= time {
                self.open(index, now());
            }
        }
    }

    /// A failed handshake fails the request that was waiting for it, when no other connection could take it.
    fn fail_unconnectable(&mut self, source: &mut Source) {
        if self.last_connect_error.take().is_some()
            && self.idle.is_empty()
            && self.in_flight == 0
            && source.due(now()).is_some()
        {
            source.advance();
            self.record.due += 1;
            self.record.errors.count(ErrorKind::Connect);
        }
    }

    fn check_timeouts(&mut self, source: &mut Source, time: Nanos) {
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            let expired = time.saturating_sub(connection.since) >= self.timeout;
            match connection.state {
                State::Busy if expired => {
                    record_time(&mut self.record.response, time.saturating_sub(connection.due));
                    self.fail(index, ErrorKind::Timeout);
                }
                State::Connecting if expired => {
                    self.retry_later(index, io::ErrorKind::TimedOut.into());
                }
                _ => {}
            }
        }
        // What waited for a connection as long as a response may take is given up as well.
        while let Some(due) = source.scheduled_before(time.saturating_sub(self.timeout)) {
            source.advance();
            self.record.due += 1;
            record_time(&mut self.record.response, time.saturating_sub(due.at));
            self.record.errors.count(ErrorKind::Timeout);
        }
    }

    /// Ends a slice before its time: what is under way is dropped with its connection.
    fn abandon(&mut self, time: Nanos, start: Nanos) {
        self.record.stopped = true;
        self.record.duration = Duration::from_nanos(time.saturating_sub(start));
        for connection in &mut self.connections {
            if connection.state == State::Busy {
                connection.close();
            }
        }
        self.in_flight = 0;
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn record_time(histogram: &mut hdrhistogram::Histogram<u64>, time: Nanos) {
    // Zero can't be told from the smallest value of the histogram, and `saturating_record` clips at the largest.
    histogram.saturating_record(time.max(1));
}

fn thread_cpu() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
