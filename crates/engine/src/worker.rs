//! A worker: one thread that takes what is due, gives it to a free connection, and books what comes back.

mod failing;
mod receiving;
mod source;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use loadline_model::load::Timestamps;
use loadline_model::{ErrorKind, Record};

use crate::clock::{Nanos, nanos, now, thread_cpu};
use crate::connection::{Exchange, Protocol, State};
use crate::dial::Dialer;
use crate::http1::KnownHead;
use crate::mix::Mix;
use crate::options::Options;
use crate::overflow::{Overflow, PATIENCE_NS};
use crate::poller::Patience;
use crate::pool::{Event, Pool};
use crate::schedule::Due;
use crate::slice::{SliceSpec, WATCHED_AFTER_END};
use crate::tally::Tally;
use crate::thinking::Thinking;
use source::Source;

/// Read at most this much at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// How often time-outs, retries and the stop flag are looked at.
const CHECK_NS: Nanos = 10_000_000;

/// A closed loop gathers responses before it reads them when so many requests are with the service that it has others to go on
/// with, and when they stay there so long that the pause is a small part of it.
const GATHER_FROM: usize = 16;
const GATHER_ABOVE_NS: Nanos = 200_000;

/// What a worker has to say.
pub(crate) enum Answer {
    Prepared(io::Result<()>),
    /// An interval of the slice is over.
    Interval(Box<Record>),
    /// The slice is over; this is its last interval, or all of it.
    Ran(io::Result<Box<Record>>),
}

/// Which part of a schedule a worker takes: every `of`-th request, from `index` on.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

/// How records leave a worker, those of intervals among them, and come back to be filled again.
pub struct Handing {
    /// Length of an interval; without one there is a single record.
    pub every: Option<Nanos>,
    pub filled: Sender<Answer>,
    pub empty: Receiver<Box<Record>>,
}

/// One worker. All that a request needs is allocated before the first one is sent.
pub struct Worker {
    mix: Mix,
    /// The same requests as the last ones of their connections.
    closing_mix: Mix,
    share: Share,
    timeout: Nanos,
    stop: Arc<AtomicBool>,
    pool: Pool,
    overflow: Arc<Overflow>,
    tally: Tally,
    /// What a read brought.
    buffer: Box<[u8]>,
    known_head: KnownHead,
    watches_headers: bool,
    /// A request that is made anew each time.
    scratch: Vec<u8>,
    /// Connections that had more to read than one turn takes; an edge-triggered epoll does not tell of them again.
    unread: VecDeque<usize>,
    /// Whether waiting for a response keeps a CPU busy.
    stays_awake: bool,
    /// The next connection whose requests may have timed out.
    next_checked: usize,
}

impl Worker {
    pub fn new(
        options: &Options,
        share: Share,
        connections: usize,
        overflow: Arc<Overflow>,
    ) -> io::Result<Worker> {
        let streams = options.streams.map(std::num::NonZeroUsize::get);
        let expectation = &options.expectation;
        let exchange = || Exchange { check: expectation.new_check().map(Box::new), ..Exchange::default() };
        let dialer = Dialer::new(options.endpoint.clone(), options.timestamps);
        let pool = Pool::new(dialer, connections, streams, options.reuse, exchange)?;
        pool.listen(overflow.bell(share.index))?;
        Ok(Worker {
            mix: options.mix.clone(),
            closing_mix: options.mix.closing(),
            share,
            timeout: nanos(options.timeout),
            stop: options.stop.clone(),
            pool,
            overflow,
            tally: Tally::new(options.mix.len(), expectation.clone()),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            known_head: KnownHead::default(),
            watches_headers: options.expectation.watches_headers(),
            unread: VecDeque::new(),
            scratch: Vec::new(),
            // The kernel's stamps don't depend on when a thread wakes.
            stays_awake: options.stay_awake && options.timestamps == Timestamps::User,
            next_checked: 0,
        })
    }

    /// Opens what is not open. An error means that after the time-out some could not be, or at once that none can.
    pub fn prepare(&mut self) -> io::Result<()> {
        self.pool.last_error = None;
        let (mut deadline, mut closed) = (now() + self.timeout, usize::MAX);
        // Connections that the service closed since the last slice are found and replaced here.
        self.take_events(0, Patience::Asleep)?;
        self.pool.reopen(Nanos::MAX);
        while !self.pool.is_complete() && now() < deadline && !self.stopped() {
            if self.pool.last_error.is_some() && !self.pool.has_free() {
                break;
            }
            self.take_events(now() + CHECK_NS, Patience::Asleep)?;
            self.pool.reopen(now());
            // Many connections take long in sum; the time-out is that of each.
            if self.pool.not_open() < closed {
                (deadline, closed) = (now() + self.timeout, self.pool.not_open());
            }
        }
        if self.pool.is_complete() || self.stopped() {
            self.pool.last_error = None;
            return Ok(());
        }
        let cause = self.pool.last_error.take().unwrap_or(io::ErrorKind::TimedOut.into());
        Err(cause)
    }

    /// Drives one slice from `start` on; requests under way at its end are waited for.
    pub fn run(&mut self, slice: &SliceSpec, start: Nanos, handing: &Handing) -> io::Result<Record> {
        let mut source = Source::new(slice, &self.mix, self.share, start);
        self.tally.record.begin(start, slice.duration);
        self.tally.end = start + nanos(slice.offset + slice.duration);
        self.tally.closed_loop = slice.load.is_closed();
        self.tally.in_flight = 0;
        let think = slice.load.think();
        self.tally.thinks = think.is_some();
        let seed = slice.seed ^ self.share.index as u64;
        let users = self.pool.connections.len() * self.pool.connections[0].exchanges.len();
        self.pool.set_thinking(think.map(|think| Thinking::new(think, seed, users)), start);
        let mut cpu_before = thread_cpu();
        self.pool.take_spun();
        let watched = self.tally.end + nanos(WATCHED_AFTER_END);
        self.pool.pauses().begin(now(), watched, slice.load.rate().map(|rate| rate.as_per_second()));
        let mut next_check = start + CHECK_NS;
        let mut next_interval = handing.every.map_or(Nanos::MAX, |every| start + every);
        loop {
            let time = self.send_due(&mut source, start);
            self.pool.reopen(time);
            if self.is_over(&source, time) {
                break;
            }
            if time >= next_check {
                next_check = time + CHECK_NS;
                if self.stopped() {
                    self.abandon(time, start);
                    break;
                }
                self.check_timeouts(&mut source, time);
                if let Some(every) = handing.every
                    && time >= next_interval
                    && time < self.tally.end
                {
                    next_interval += every;
                    self.hand_over(handing, &mut cpu_before);
                }
                if next_interval > time {
                    next_check = next_check.min(next_interval);
                }
            }
            let wake = match source.next_at() {
                _ if time < start => start,
                // A connection that has become free again just now: in a closed loop nothing else may come to wake us.
                None if self.tally.closed_loop && self.pool.has_free() && time < self.tally.end => time,
                Some(due) if self.pool.has_free() => due.min(next_check),
                Some(due) if self.overflow.has_others() => (due + PATIENCE_NS).min(next_check),
                None if time < self.last_moment() => next_check.min(self.last_moment()),
                _ => next_check,
            };
            let wake = self.pool.thinks_until().map_or(wake, |until| until.min(wake));
            self.take_events(wake, self.patience())?;
            self.fail_cut_off(&mut source);
        }
        self.pool.set_thinking(None, 0);
        self.tally.record.cpu_ns = thread_cpu() - cpu_before;
        self.tally.record.spun_ns = self.pool.take_spun();
        self.tally.record.pauses = self.pool.pauses().take();
        Ok(std::mem::replace(&mut self.tally.record, Record::of_requests(self.mix.len())))
    }

    fn is_over(&self, source: &Source, time: Nanos) -> bool {
        self.tally.in_flight == 0
            && time >= self.last_moment()
            && source.is_over(time)
            && self.overflow.is_empty()
    }

    /// When a slice may end at the earliest: what another worker has waiting at its very end is shared out a little later.
    fn last_moment(&self) -> Nanos {
        self.tally.end + if self.overflow.has_others() { 2 * PATIENCE_NS } else { 0 }
    }

    /// How to wait for what comes next.
    fn patience(&self) -> Patience {
        let Tally { in_flight, typical_service, closed_loop, .. } = self.tally;
        if closed_loop && in_flight >= GATHER_FROM && typical_service >= GATHER_ABOVE_NS {
            Patience::Gathering
        } else if !closed_loop && in_flight > 0 && self.stays_awake {
            Patience::Awake
        } else if in_flight == 0 && !self.overflow.has_others() {
            Patience::Alone
        } else {
            Patience::Asleep
        }
    }

    /// Sends all that is due while connections are free. Returns the time: that before the last request, or the present.
    fn send_due(&mut self, source: &mut Source, start: Nanos) -> Nanos {
        let mut time = now();
        self.pool.pauses().awake(time);
        if time < start {
            return time;
        }
        self.pool.end_thinking(time);
        while let Some(index) = self.pool.first_free() {
            // What other workers could not begin has waited longer than what is due here.
            let Some(mut due) = self.overflow.pop(time).or_else(|| source.take(time)) else { return time };
            if self.tally.thinks {
                due.at = self.pool.connections[index].free_since;
            }
            self.pool.take_first_free();
            self.begin(index, due, time);
            self.pool.pauses().worked(1);
            if !self.pool.has_free() {
                break;
            }
            time = now();
            self.pool.pauses().awake(time);
        }
        if self.overflow.has_others() {
            self.share_out(source, time);
        }
        time
    }

    /// Lets other workers have what has waited for a connection here for a while.
    fn share_out(&mut self, source: &mut Source, time: Nanos) {
        let mut shared = false;
        while let Some(due) = source.take_scheduled(time.saturating_sub(PATIENCE_NS)) {
            self.overflow.push(due);
            shared = true;
        }
        if shared {
            self.overflow.ring(self.share.index);
        }
    }

    fn begin(&mut self, index: usize, due: Due, time: Nanos) {
        let connection = &mut self.pool.connections[index];
        self.tally.begun(due, connection.free_since, time);
        connection.begun += 1;
        connection.under_way += 1;
        if connection.state == State::Open {
            return self.write(index, due, time);
        }
        // The connection was asked for by this request; it is written as soon as it can be.
        connection.exchanges[0].begin(due, time);
        self.pool.open(index, time);
        if self.pool.connections[index].state == State::Closed {
            self.fail(index, ErrorKind::Connect, time);
        }
    }

    /// Writes a request; what the socket does not take is sent when it is writable again.
    #[inline]
    fn write(&mut self, index: usize, due: Due, time: Nanos) {
        let pool = &mut self.pool;
        let is_last = pool.is_last(pool.connections[index].begun);
        let mix = if is_last { &self.closing_mix } else { &self.mix };
        let connection = &mut pool.connections[index];
        let Some(transport) = &mut connection.transport else { return };
        let (slot, result) = match &mut connection.protocol {
            Protocol::Http1(_) => {
                connection.exchanges[0].begin(due, time);
                let sent = transport.send(mix.bytes(due.request, due.number, &mut self.scratch));
                (0, sent)
            }
            Protocol::Http2(http2) => {
                let (head, body) = mix.parts(due.request, due.number, &mut self.scratch);
                pool.frames.clear();
                let slot = http2.request(head, body, mix.is_head(due.request), &mut pool.frames);
                let slot = slot.expect("a free connection can take a request");
                connection.exchanges[slot].begin(due, time);
                (slot, transport.send(&pool.frames))
            }
        };
        if let Some(transmitted) = transport.transmitted() {
            connection.exchanges[slot].transmitted(transmitted);
        }
        self.sent(index, result, time);
    }

    /// What the socket did not take goes when it has room; `false` when the connection is gone.
    #[inline]
    fn sent(&mut self, index: usize, result: io::Result<bool>, time: Nanos) -> bool {
        match result.and_then(|all| if all { Ok(()) } else { self.pool.want_room(index) }) {
            Ok(()) => true,
            Err(error) => {
                self.broke(index, error, time);
                false
            }
        }
    }

    /// Waits for events and handles them.
    fn take_events(&mut self, deadline: Nanos, patience: Patience) -> io::Result<()> {
        let deadline = if self.unread.is_empty() { deadline } else { 0 };
        let (events, unread) = (self.pool.wait(deadline, patience)?, self.unread.len());
        for event in 0..events {
            match self.pool.event(event, &mut self.tally.record) {
                // One that has more to read than a turn takes has its turn below.
                Event::Readable { index, .. } if self.pool.connections[index].is_unread => {}
                Event::Readable { index, ending } => self.receive(index, ending),
                Event::Broken { index, error } => self.broke(index, error, now()),
                Event::Opened(index) => self.opened(index),
                Event::Failed(index) => {
                    let time = now();
                    if self.pool.connections[index].under_way > 0 {
                        self.fail(index, ErrorKind::Connect, time);
                    } else if self.tally.closed_loop {
                        // In a closed loop a request waits on every connection.
                        self.tally.given_up(
                            Due { at: time, request: 0, number: 0 },
                            ErrorKind::Connect,
                            time,
                        );
                    }
                }
                Event::Nothing => {}
            }
        }
        for _ in 0..self.unread.len() {
            let Some(index) = self.unread.pop_front() else { break };
            let connection = &mut self.pool.connections[index];
            connection.is_unread = false;
            if matches!(connection.state, State::Open | State::Draining) {
                self.receive(index, true);
            }
        }
        self.pool.pauses().worked(events + unread);
        Ok(())
    }

    fn opened(&mut self, index: usize) {
        let time = now();
        if self.pool.connections[index].under_way > 0 {
            let waiting = &self.pool.connections[index].exchanges[0];
            let due = Due { at: waiting.due, request: waiting.request, number: waiting.number };
            self.write(index, due, time);
        } else {
            self.pool.offer(index, time);
        }
        // An end that came together with the handshake is not told again.
        if self.pool.connections[index].transport.is_some() {
            self.receive(index, true);
        }
    }

    /// Gives the record of the interval that is over away and goes on with an empty one.
    fn hand_over(&mut self, handing: &Handing, cpu_before: &mut Nanos) {
        let mut next =
            handing.empty.try_recv().unwrap_or_else(|_| Box::new(Record::of_requests(self.mix.len())));
        let record = &mut self.tally.record;
        let cpu = thread_cpu();
        record.cpu_ns = cpu - std::mem::replace(cpu_before, cpu);
        record.spun_ns = self.pool.take_spun();
        record.pauses = self.pool.pauses().take();
        next.begin(record.started_ns, record.duration);
        std::mem::swap(&mut *next, record);
        // Nobody listens any more when the slice is being abandoned.
        let _ = handing.filled.send(Answer::Interval(next));
    }

    /// Ends a slice before its time: what is under way is dropped with its connection.
    fn abandon(&mut self, time: Nanos, start: Nanos) {
        self.tally.record.stopped = true;
        self.tally.record.duration = Duration::from_nanos(time.saturating_sub(start));
        for index in 0..self.pool.connections.len() {
            let connection = &mut self.pool.connections[index];
            if connection.under_way > 0 {
                connection.under_way = 0;
                connection.exchanges.iter_mut().for_each(|exchange| exchange.under_way = false);
                self.pool.close(index, time, 0);
            }
        }
        self.tally.in_flight = 0;
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
