//! An HdrHistogram log (version 1.3): the histograms of every second under tags, in ns, written as each second ends.

use std::io::Write;
use std::time::SystemTime;

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use loadline_model::Second;

use crate::ReportError;

/// Names the columns; tagged lines have their tag before them.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// The log of one load.
pub struct IntervalLog<W> {
    out: W,
    serializer: V2DeflateSerializer,
}

impl<W: Write> IntervalLog<W> {
    /// Writes the log's head.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn new(mut out: W, started: SystemTime) -> Result<IntervalLog<W>, ReportError> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            // Readers look for this line by its brackets (HistogramLogReader of HdrHistogram).
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("[Written by loadline; times are in nanoseconds]")
            .with_start_time(started)
            .with_base_time(started)
            .begin_log_with(&mut out, &mut serializer)?;
        writeln!(out, "{LEGEND}")?;
        Ok(IntervalLog { out, serializer })
    }

    /// Writes the histograms of a second.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn second(&mut self, second: &Second<'_>) -> Result<(), ReportError> {
        let record = second.record;
        let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        for (tag, histogram) in
            [("response", &record.response), ("service", &record.service), ("send_lag", &record.send_lag)]
        {
            log.write_histogram(histogram, second.began, second.length, Tag::new(tag)).map_err(reason)?;
        }
        // A reader that follows the file is to see whole seconds.
        Ok(self.out.flush()?)
    }
}

fn reason(error: IntervalLogWriterError<V2DeflateSerializeError>) -> ReportError {
    match error {
        IntervalLogWriterError::IoError(error) => error.into(),
        IntervalLogWriterError::SerializeError(error) => {
            ReportError::Write(std::io::Error::other(error.to_string()))
        }
    }
}
