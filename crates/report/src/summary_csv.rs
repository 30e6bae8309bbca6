//! One CSV row per cell and deployment, in the columns in which sweeps over rates are commonly published.
//! Quantiles come from merged histograms, never from averaged quantiles.

use std::io::Write;

use loadline_model::result::{Cell, Deployment, RunResult};

use crate::ReportError;
use crate::csv_text::csv_text;

const COLUMNS: [&str; 6] = ["iteration", "target", "rpm", "mean_latency_ms", "p99_latency_ms", "rps"];
const NS_PER_MS: f64 = 1e6;

/// Columns `iteration` (the round of deployments, from 1), `target` (the cell's label), `rpm` (requests asked for per
/// minute, empty in a closed loop), `mean_latency_ms` and `p99_latency_ms` (response time), `rps` (answered per second).
/// Figures of a deployment that answered nothing are empty.
///
/// # Errors
/// When `out` does not take it.
pub fn csv_summary(result: &RunResult, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut rows: Vec<(&Cell, &Deployment)> = result
        .cells
        .iter()
        .flat_map(|cell| cell.deployments.iter().map(move |deployment| (cell, deployment)))
        .collect();
    rows.sort_by_key(|(cell, deployment)| (deployment.round, cell.id));

    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for (cell, deployment) in rows {
        let measured = deployment.rate_per_second > 0.0;
        let figure = |text: String| if measured { text } else { String::new() };
        csv.write_record([
            (deployment.round + 1).to_string(),
            csv_text(&cell.label),
            cell.rate_per_second.map(per_minute).unwrap_or_default(),
            figure(format!("{:.6}", deployment.response_mean_ns / NS_PER_MS)),
            figure(format!("{:.6}", deployment.response_p99_ns as f64 / NS_PER_MS)),
            figure(format!("{:.3}", deployment.rate_per_second)),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

/// 100/min is kept as 1.666…/s; the rounding brings back 100.
fn per_minute(per_second: f64) -> String {
    ((per_second * 60.0 * 1e6).round() / 1e6).to_string()
}
