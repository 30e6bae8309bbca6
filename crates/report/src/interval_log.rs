//! HdrHistogram logs (version 1.3): histograms of intervals under tags, in ns; of the seconds of a load, written as each ends, and of the slices
//! of a run.

use std::io::Write;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use jiff::Timestamp;
use loadline_model::Second;
use loadline_model::result::RunResult;

use crate::groups;
use crate::{Evidence, ReportError};

/// Names the columns; tagged lines have their tag before them.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// A log.
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
        for (tag, histogram) in
            [("response", &record.response), ("service", &record.service), ("send_lag", &record.send_lag)]
        {
            self.write(tag, histogram, second.began, second.length)?;
        }
        // A reader that follows the file is to see whole seconds.
        Ok(self.out.flush()?)
    }

    /// Writes a histogram of an interval that began so long after the start.
    fn write(
        &mut self,
        tag: &str,
        histogram: &Histogram<u64>,
        began: Duration,
        length: Duration,
    ) -> Result<(), ReportError> {
        let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        log.write_histogram(histogram, began, length, Tag::new(tag)).map_err(reason)
    }
}

/// The response times of the slices that count, each an interval under the name of its cell.
///
/// # Errors
/// When `out` does not take it.
pub fn hlog(result: &RunResult, evidence: &Evidence, mut out: &mut dyn Write) -> Result<(), ReportError> {
    let started = result.run.started.parse::<Timestamp>().unwrap_or_default();
    let mut log = IntervalLog::new(&mut out, started.into())?;
    let counted = result.slices.iter().zip(&evidence.response_times).filter(|(slice, _)| slice.counted);
    for (slice, times) in counted {
        let Some(cell) = result.cell(slice.cell) else { continue };
        // What a tag may not hold (`Tag::new`).
        let tag = groups::cell_name(result, cell)
            .replace(|each: char| each == ',' || each.is_whitespace() || each.is_control(), "_");
        let [began, length] = [slice.at_s, slice.duration_s].map(Duration::from_secs_f64);
        log.write(&tag, &times.whole(), began, length)?;
    }
    Ok(log.out.flush()?)
}

fn reason(error: IntervalLogWriterError<V2DeflateSerializeError>) -> ReportError {
    match error {
        IntervalLogWriterError::IoError(error) => error.into(),
        IntervalLogWriterError::SerializeError(error) => {
            ReportError::Write(std::io::Error::other(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_written_with_its_tag_and_its_time() {
        let mut written = Vec::new();
        let mut histogram = loadline_model::new_histogram();
        histogram.record(71_000).unwrap();
        let mut log = IntervalLog::new(&mut written, SystemTime::UNIX_EPOCH).unwrap();
        log.write("host_at_2000/s", &histogram, Duration::from_millis(1500), Duration::from_millis(50))
            .unwrap();
        let text = String::from_utf8(written).unwrap();
        assert!(text.contains("\nTag=host_at_2000/s,1.500,0.050,"), "{text}");
    }
}
