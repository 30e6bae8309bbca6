//! What a slice gathered: three histograms and the counts, merged over workers and later over slices.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::clock::Nanos;
use crate::errors::Errors;

/// Longest time that a histogram holds, 1 h; what is longer is recorded as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits kept of every time: 0.1 %.
const DIGITS: u8 = 3;

/// An empty histogram of times in ns, as all of loadline's are: 1 ns to 1 h, three digits.
pub fn new_histogram() -> Histogram<u64> {
    // The bounds are constants that fit the constructor's rules: low >= 1, high >= 2 low, digits <= 5.
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid")
}

/// The record of one slice.
#[derive(Clone, Debug)]
pub struct Record {
    /// From the moment a request was due to its last byte, ns. A request that timed out counts with the time waited.
    pub response: Histogram<u64>,
    /// From the moment a request was written to its last byte, ns.
    pub service: Histogram<u64>,
    /// From the moment a request was due, with a connection free, to when it was written, ns.
    pub send_lag: Histogram<u64>,
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
    /// Connections opened during the slice, the first ones excepted.
    pub reconnects: u64,
    /// Bytes of responses.
    pub received_bytes: u64,
    /// CPU time of the workers during the slice, ns.
    pub cpu_ns: u64,
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
    pub(crate) fn new(started_ns: Nanos, duration: Duration) -> Record {
        Record {
            response: new_histogram(),
            service: new_histogram(),
            send_lag: new_histogram(),
            due: 0,
            sent_in_time: 0,
            answered: 0,
            answered_in_time: 0,
            waited: 0,
            errors: Errors::default(),
            reconnects: 0,
            received_bytes: 0,
            cpu_ns: 0,
            workers: 1,
            duration,
            started_ns,
            stopped: false,
        }
    }

    /// Adds the record of another worker of the same slice.
    pub(crate) fn merge(&mut self, other: &Record) {
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.send_lag, &other.send_lag),
        ] {
            mine.add(theirs).expect("all histograms have the same bounds");
        }
        self.due += other.due;
        self.sent_in_time += other.sent_in_time;
        self.answered += other.answered;
        self.answered_in_time += other.answered_in_time;
        self.waited += other.waited;
        self.errors.add(&other.errors);
        self.reconnects += other.reconnects;
        self.received_bytes += other.received_bytes;
        self.cpu_ns += other.cpu_ns;
        self.workers += other.workers;
        self.duration = self.duration.max(other.duration);
        self.stopped |= other.stopped;
    }

    /// Share of the due requests that were written before the slice was over; 1 when none was due.
    pub fn sent_share(&self) -> f64 {
        if self.due == 0 { 1.0 } else { self.sent_in_time as f64 / self.due as f64 }
    }

    /// Responses a second of the slice.
    pub fn answered_per_second(&self) -> f64 {
        self.answered_in_time as f64 / self.duration.as_secs_f64()
    }
}
