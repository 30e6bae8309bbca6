//! An HdrHistogram log (version 1.3): the histograms of every second under tags, in ns, written as each second ends.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::seconds::Second;
use crate::outputs::create;

/// Names the columns; tagged lines have their tag before them.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// The log of one load.
pub struct IntervalLog {
    out: Box<dyn Write>,
    serializer: V2DeflateSerializer,
    path: String,
}

impl IntervalLog {
    /// Creates the file with the log's head; `-` is standard output.
    pub fn create(path: &Path, started: SystemTime) -> Result<IntervalLog> {
        let shown = path.display().to_string();
        let cannot = || format!("can't write {shown}");
        let mut out = create(path)?;
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            // Readers look for this line by its brackets (HistogramLogReader of HdrHistogram).
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("[Written by loadline; times are in nanoseconds]")
            .with_start_time(started)
            .with_base_time(started)
            .begin_log_with(&mut out, &mut serializer)
            .with_context(cannot)?;
        writeln!(out, "{LEGEND}").with_context(cannot)?;
        Ok(IntervalLog { out, serializer, path: shown })
    }

    /// Writes the histograms of a second.
    pub fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let record = second.record;
        let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        for (tag, histogram) in
            [("response", &record.response), ("service", &record.service), ("send_lag", &record.send_lag)]
        {
            log.write_histogram(histogram, second.began, second.length, Tag::new(tag))
                .map_err(|error| anyhow!("can't write {}: {error}", self.path))?;
        }
        // Whoever follows the file is to see whole seconds.
        self.out.flush().with_context(|| format!("can't write {}", self.path))
    }
}
