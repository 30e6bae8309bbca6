//! One CSV row a second, written as each ends.

use std::io::Write;

use hdrhistogram::Histogram;
use loadline_model::Second;

use crate::ReportError;

/// Each column and how its text is made of a second and its number.
type Column = (&'static str, fn(&Second<'_>, u64) -> String);

const COLUMNS: [Column; 20] = [
    ("second", |_, number| number.to_string()),
    ("length_s", |second, _| format!("{:.3}", second.length.as_secs_f64())),
    ("due", |second, _| second.record.due.to_string()),
    ("sent", |second, _| second.record.sent().to_string()),
    ("answered", |second, _| second.record.answered.to_string()),
    ("errors", |second, _| second.record.errors.total().to_string()),
    ("waited", |second, _| second.record.waited.to_string()),
    ("connections_opened", |second, _| second.record.reconnects.to_string()),
    ("rate", |second, _| format!("{:.3}", second.rate())),
    ("response_p50_us", |second, _| us(&second.record.response, 0.5)),
    ("response_p90_us", |second, _| us(&second.record.response, 0.9)),
    ("response_p99_us", |second, _| us(&second.record.response, 0.99)),
    ("response_p99_9_us", |second, _| us(&second.record.response, 0.999)),
    ("response_max_us", |second, _| us(&second.record.response, 1.0)),
    ("service_p50_us", |second, _| us(&second.record.service, 0.5)),
    ("service_p99_us", |second, _| us(&second.record.service, 0.99)),
    ("service_max_us", |second, _| us(&second.record.service, 1.0)),
    ("send_lag_p99_us", |second, _| us(&second.record.send_lag, 0.99)),
    ("received_bytes", |second, _| second.record.received_bytes.to_string()),
    ("load_cpu_ms", |second, _| format!("{:.3}", second.record.cpu_ns as f64 / 1e6)),
];

/// The table of one load.
pub struct SecondsCsv<W: Write> {
    csv: csv::Writer<W>,
    rows: u64,
}

impl<W: Write> SecondsCsv<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn new(out: W) -> Result<SecondsCsv<W>, ReportError> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS.map(|(name, _)| name))?;
        csv.flush()?;
        Ok(SecondsCsv { csv, rows: 0 })
    }

    /// Writes the row of a second.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn second(&mut self, second: &Second<'_>) -> Result<(), ReportError> {
        self.rows += 1;
        self.csv.write_record(COLUMNS.map(|(_, text)| text(second, self.rows)))?;
        // A reader that follows the file is to see whole rows.
        Ok(self.csv.flush()?)
    }
}

/// A quantile in µs; empty when there is none.
fn us(times: &Histogram<u64>, quantile: f64) -> String {
    if times.is_empty() {
        String::new()
    } else {
        format!("{:.3}", times.value_at_quantile(quantile) as f64 / 1e3)
    }
}
