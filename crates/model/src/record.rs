//! What a slice gathered: histograms of times and counts, merged over workers and later over slices.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::errors::Errors;
use crate::histogram::new_histogram;
use crate::load::Nanos;
use crate::pauses::Pauses;
use crate::slowest::Slowest;

/// Response times are told apart by request in a mix of so many at most: each has a histogram per worker.
const MOST_REQUESTS: usize = 32;

/// The record of one slice.
#[derive(Clone, Debug)]
pub struct Record {
    /// From the moment a request was due to its last byte, ns. A request that timed out counts with the time waited.
    pub response: Histogram<u64>,
    /// From the moment a request was written to its last byte, ns.
    pub service: Histogram<u64>,
    /// From the moment a request was due, with a connection free, to when it was written, ns.
    pub send_lag: Histogram<u64>,
    /// From the moment a request was due to when a connection was free, ns; of those requests alone that had to wait.
    pub wait: Histogram<u64>,
    /// Looking up the name of the service, ns, once for each connection that needed it.
    pub resolve: Histogram<u64>,
    /// Handshakes of TCP, ns, those before the slice included.
    pub connect: Histogram<u64>,
    /// Handshakes of TLS, ns, those before the slice included.
    pub handshake: Histogram<u64>,
    /// Response times by request, ns; empty where the mix has a single one, or more than can be told apart.
    pub by_request: Vec<Histogram<u64>>,
    /// The slowest requests.
    pub slowest: Slowest,
    /// Requests that were due (closed loop: that were sent).
    pub due: u64,
    /// Requests written before the slice was over, 1 ms of grace included.
    pub sent_in_time: u64,
    /// Complete responses, whatever their status.
    pub answered: u64,
    /// Complete responses to requests that were sent in time; in a closed loop, those before the slice was over.
    pub answered_in_time: u64,
    /// Requests that found every connection busy when they were due.
    pub waited: u64,
    /// Failed requests by kind.
    pub errors: Errors,
    /// Connections that were closed because bytes came which no request had asked for.
    pub unsolicited: u64,
    /// Connections opened during the slice.
    pub reconnects: u64,
    /// Bytes of responses.
    pub received_bytes: u64,
    /// CPU time of the workers during the slice, ns.
    pub cpu_ns: u64,
    /// The part of `cpu_ns` in which they only waited, awake, for a moment or an answer, ns.
    pub spun_ns: u64,
    /// Times for which a worker was due to run and did not; of all workers together.
    pub pauses: Pauses,
    /// How many workers drove it.
    pub workers: u32,
    /// Length of the slice as asked, or until it was stopped.
    pub duration: Duration,
    /// CLOCK_MONOTONIC at the start of the slice, ns.
    pub started_ns: Nanos,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Record {
    /// A record of nothing.
    pub fn empty() -> Record {
        Record {
            response: new_histogram(),
            service: new_histogram(),
            send_lag: new_histogram(),
            wait: new_histogram(),
            resolve: new_histogram(),
            connect: new_histogram(),
            handshake: new_histogram(),
            by_request: Vec::new(),
            slowest: Slowest::default(),
            due: 0,
            sent_in_time: 0,
            answered: 0,
            answered_in_time: 0,
            waited: 0,
            errors: Errors::default(),
            unsolicited: 0,
            reconnects: 0,
            received_bytes: 0,
            cpu_ns: 0,
            spun_ns: 0,
            pauses: Pauses::default(),
            workers: 1,
            duration: Duration::ZERO,
            started_ns: 0,
            stopped: false,
        }
    }

    /// A record of nothing, for a mix of so many requests.
    pub fn of_requests(requests: usize) -> Record {
        let told_apart = if (2..=MOST_REQUESTS).contains(&requests) { requests } else { 0 };
        Record { by_request: vec![new_histogram(); told_apart], ..Record::empty() }
    }

    /// Begins a slice: what was counted before it goes, the times of the handshakes that made its connections stay.
    pub fn begin(&mut self, started_ns: Nanos, duration: Duration) {
        self.errors.clear();
        (self.unsolicited, self.reconnects, self.received_bytes) = (0, 0, 0);
        (self.started_ns, self.duration) = (started_ns, duration);
    }

    /// Empties it, to be used for another slice or interval.
    pub fn clear(&mut self) {
        // What is empty need not be written.
        let empty = |histogram: &mut Histogram<u64>| {
            if !histogram.is_empty() {
                histogram.reset();
            }
        };
        self.histograms_mut().into_iter().for_each(empty);
        self.by_request.iter_mut().for_each(empty);
        self.slowest.clear();
        self.begin(0, Duration::ZERO);
        (self.due, self.sent_in_time, self.answered, self.answered_in_time, self.waited) = (0, 0, 0, 0, 0);
        (self.cpu_ns, self.spun_ns, self.workers, self.stopped) = (0, 0, 1, false);
        self.pauses = Pauses::default();
    }

    /// Keeps the times of a request that was answered.
    #[inline]
    pub fn keep(&mut self, request: usize, response: Nanos, service: Nanos) {
        self.keep_response(request, response);
        record_time(&mut self.service, service);
        self.answered += 1;
    }

    /// Keeps the response time of a request, answered or not.
    #[inline]
    pub fn keep_response(&mut self, request: usize, response: Nanos) {
        record_time(&mut self.response, response);
        if let Some(of_request) = self.by_request.get_mut(request) {
            record_time(of_request, response);
        }
    }

    /// Keeps how late a request was sent.
    #[inline]
    pub fn keep_lag(&mut self, send_lag: Nanos) {
        record_time(&mut self.send_lag, send_lag);
        self.due += 1;
    }

    /// Those that every record has.
    fn histograms_mut(&mut self) -> [&mut Histogram<u64>; 7] {
        [
            &mut self.response,
            &mut self.service,
            &mut self.send_lag,
            &mut self.wait,
            &mut self.resolve,
            &mut self.connect,
            &mut self.handshake,
        ]
    }

    /// Adds a later interval of the same worker.
    pub fn append(&mut self, later: &Record) {
        let workers = self.workers;
        self.merge(later);
        self.workers = workers;
    }

    /// Adds the record of another worker of the same slice.
    pub fn merge(&mut self, other: &Record) {
        let theirs = [
            &other.response,
            &other.service,
            &other.send_lag,
            &other.wait,
            &other.resolve,
            &other.connect,
            &other.handshake,
        ];
        for (mine, theirs) in self.histograms_mut().into_iter().zip(theirs) {
            if !theirs.is_empty() {
                mine.add(theirs).expect("all histograms have the same bounds");
            }
        }
        if self.by_request.is_empty() {
            self.by_request.clone_from(&other.by_request);
        } else {
            for (mine, theirs) in self.by_request.iter_mut().zip(&other.by_request) {
                mine.add(theirs).expect("all histograms have the same bounds");
            }
        }
        self.slowest.merge(&other.slowest);
        self.due += other.due;
        self.sent_in_time += other.sent_in_time;
        self.answered += other.answered;
        self.answered_in_time += other.answered_in_time;
        self.waited += other.waited;
        self.errors.add(&other.errors);
        self.unsolicited += other.unsolicited;
        self.reconnects += other.reconnects;
        self.received_bytes += other.received_bytes;
        self.cpu_ns += other.cpu_ns;
        self.spun_ns += other.spun_ns;
        self.pauses.add(&other.pauses);
        self.workers += other.workers;
        self.started_ns = self.started_ns.max(other.started_ns);
        // A worker that was stopped knows how long it went on; the others, and earlier intervals, only what was asked of them.
        self.duration = match (self.stopped, other.stopped) {
            (false, true) => other.duration,
            (true, false) => self.duration,
            _ => self.duration.max(other.duration),
        };
        self.stopped |= other.stopped;
    }

    /// Requests that were written: each has its send lag.
    pub fn sent(&self) -> u64 {
        self.send_lag.len()
    }

    /// Share of the due requests that were written before the slice was over; 1 when none was due.
    pub fn sent_share(&self) -> f64 {
        if self.due == 0 { 1.0 } else { self.sent_in_time as f64 / self.due as f64 }
    }

    /// Share that so much time is of the workers' time, all of them together; 0 of a slice without length.
    pub fn share_of_workers(&self, ns: u64) -> f64 {
        let whole = self.duration.as_nanos() as f64 * f64::from(self.workers.max(1));
        if whole > 0.0 { ns as f64 / whole } else { 0.0 }
    }

    /// Responses a second of the slice.
    pub fn answered_per_second(&self) -> f64 {
        self.answered_in_time as f64 / self.duration.as_secs_f64()
    }
}

/// Records a time. Zero can't be told from the smallest value of the histogram, and what is above its largest is recorded as that.
#[inline]
pub fn record_time(histogram: &mut Histogram<u64>, time: Nanos) {
    histogram.saturating_record(time.max(1));
}

/// One second of a load while it goes on; the last one may be shorter.
#[derive(Clone, Copy, Debug)]
pub struct Second<'a> {
    /// When it began, from the start of the load.
    pub began: Duration,
    /// How long it was.
    pub length: Duration,
    /// What was gathered in it.
    pub record: &'a Record,
}

impl Second<'_> {
    /// Responses a second.
    pub fn rate(&self) -> f64 {
        self.record.answered_in_time as f64 / self.length.as_secs_f64()
    }
}
