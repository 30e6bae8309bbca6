//! One CSV row a second, written as each ends.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use hdrhistogram::Histogram;

use super::seconds::Second;
use crate::outputs::create;

const HEADER: &str = "second,length_s,due,sent,answered,errors,waited,connections_opened,rate,response_p50_us,\
    response_p90_us,response_p99_us,response_p99_9_us,response_max_us,service_p50_us,service_p99_us,service_max_us,\
    send_lag_p99_us,received_bytes,load_cpu_ms";

/// The table of one load.
pub struct SecondsCsv {
    out: Box<dyn Write>,
    path: String,
    rows: u64,
}

impl SecondsCsv {
    /// Creates the file with its header; `-` is standard output.
    pub fn create(path: &Path) -> Result<SecondsCsv> {
        let mut table = SecondsCsv { out: create(path)?, path: path.display().to_string(), rows: 0 };
        table.line(HEADER)?;
        Ok(table)
    }

    /// Writes the row of a second.
    pub fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let record = second.record;
        self.rows += 1;
        let row = [
            self.rows.to_string(),
            format!("{:.3}", second.length.as_secs_f64()),
            record.due.to_string(),
            // Every request that was written has its send lag.
            record.send_lag.len().to_string(),
            record.answered.to_string(),
            record.errors.total().to_string(),
            record.waited.to_string(),
            record.reconnects.to_string(),
            format!("{:.3}", second.rate()),
            at(&record.response, 0.5),
            at(&record.response, 0.9),
            at(&record.response, 0.99),
            at(&record.response, 0.999),
            at(&record.response, 1.0),
            at(&record.service, 0.5),
            at(&record.service, 0.99),
            at(&record.service, 1.0),
            at(&record.send_lag, 0.99),
            record.received_bytes.to_string(),
            format!("{:.3}", record.cpu_ns as f64 / 1e6),
        ];
        self.line(&row.join(","))
    }

    fn line(&mut self, line: &str) -> Result<()> {
        // Whoever follows the file is to see whole rows.
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .with_context(|| format!("can't write {}", self.path))
    }
}

/// A quantile in µs; empty when there is none.
fn at(times: &Histogram<u64>, quantile: f64) -> String {
    if times.is_empty() {
        String::new()
    } else {
        format!("{:.3}", times.value_at_quantile(quantile) as f64 / 1e3)
    }
}
