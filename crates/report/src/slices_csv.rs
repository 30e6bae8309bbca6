//! One CSV row per slice, in the order of measurement: what a reader needs to do the statistics again elsewhere.
//! Every column has its unit in its name; what the observers saw becomes columns of its own.

use std::collections::BTreeMap;
use std::io::Write;

use loadline_model::metrics::{MetricDeclaration, Unit};
use loadline_model::result::{Cell, RunResult, Slice};
use loadline_model::{MachineCpu, Observations};
use serde_json::Value;

use crate::ReportError;
use crate::csv_text::csv_text;
use crate::words::said;

/// Name of a column and how a slice of a cell fills it.
type Column = (&'static str, fn(&Cell, &Slice) -> String);

const COLUMNS: [Column; 36] = [
    ("cell", |cell, _| cell.id.to_string()),
    ("label", |cell, _| csv_text(&cell.label)),
    ("service", |cell, _| csv_text(&cell.service)),
    ("platform", |cell, _| csv_text(&cell.platform)),
    ("load", |cell, _| csv_text(&cell.load)),
    ("connections", |cell, _| cell.connections.to_string()),
    ("new_connections", |cell, _| cell.new_connections.to_string()),
    ("asked_per_second", |cell, _| cell.rate_per_second.map(|rate| rate.to_string()).unwrap_or_default()),
    ("round", |_, slice| slice.round.to_string()),
    ("block", |_, slice| slice.block.to_string()),
    ("position", |_, slice| slice.position.to_string()),
    ("attempt", |_, slice| slice.attempt.to_string()),
    ("counted", |_, slice| slice.counted.to_string()),
    ("at_s", |_, slice| format!("{:.3}", slice.at_s)),
    ("duration_s", |_, slice| format!("{:.6}", slice.duration_s)),
    ("due", |_, slice| slice.due.to_string()),
    ("answered", |_, slice| slice.answered.to_string()),
    ("errors", |_, slice| errors(slice)),
    ("rate_per_second", |_, slice| format!("{:.3}", slice.rate_per_second)),
    ("response_mean_ns", |_, slice| format!("{:.1}", slice.response_mean_ns)),
    ("response_p50_ns", |_, slice| slice.response.p50.to_string()),
    ("response_p90_ns", |_, slice| slice.response.p90.to_string()),
    ("response_p99_ns", |_, slice| slice.response.p99.to_string()),
    ("response_p999_ns", |_, slice| slice.response.p999.to_string()),
    ("response_max_ns", |_, slice| slice.response.max.to_string()),
    ("service_p50_ns", |_, slice| slice.service.p50.to_string()),
    ("service_p90_ns", |_, slice| slice.service.p90.to_string()),
    ("service_p99_ns", |_, slice| slice.service.p99.to_string()),
    ("service_p999_ns", |_, slice| slice.service.p999.to_string()),
    ("service_max_ns", |_, slice| slice.service.max.to_string()),
    ("send_lag_p50_ns", |_, slice| slice.send_lag.p50.to_string()),
    ("send_lag_p90_ns", |_, slice| slice.send_lag.p90.to_string()),
    ("send_lag_p99_ns", |_, slice| slice.send_lag.p99.to_string()),
    ("send_lag_p999_ns", |_, slice| slice.send_lag.p999.to_string()),
    ("send_lag_max_ns", |_, slice| slice.send_lag.max.to_string()),
    ("failed_gates", |_, slice| {
        csv_text(&slice.failed_gates.iter().map(said).collect::<Vec<_>>().join("; "))
    }),
];

/// One row per slice, repeats and failures included; `counted` tells whether its figures count.
///
/// Observers' figures follow the others, in the order of the alphabet, under their names in the JSON with `_` between the levels; what was
/// not seen is empty. The columns are the same for every run whose probes declare the same metrics. `errors` is `reset 1; timeout 3`.
/// A slice of a cell that the result doesn't hold has no row.
///
/// # Errors
/// When `out` does not take it.
pub fn csv_slices(result: &RunResult, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut observers = leaves(&Observations::default().with_machine_cpu(&MachineCpu::default()), result)?;
    for metric in &result.metrics {
        observers.insert(column(metric), String::new());
    }
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS.iter().map(|(name, _)| *name).chain(observers.keys().map(String::as_str)))?;
    for slice in &result.slices {
        let Some(cell) = result.cell(slice.cell) else { continue };
        let seen = leaves(&slice.observations, result)?;
        let fixed = COLUMNS.iter().map(|(_, text)| text(cell, slice));
        let observed = observers.keys().map(|name| seen.get(name).cloned().unwrap_or_default());
        csv.write_record(fixed.chain(observed))?;
    }
    csv.flush()?;
    Ok(())
}

/// `reset 1; timeout 3`
fn errors(slice: &Slice) -> String {
    slice.errors.iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join("; ")
}

/// What was observed, each figure under the names on the way to it, or that of its metric with its unit.
fn leaves(observations: &Observations, result: &RunResult) -> Result<BTreeMap<String, String>, ReportError> {
    let mut leaves = BTreeMap::new();
    flatten("", &serde_json::to_value(observations)?, &mut leaves);
    for metric in &result.metrics {
        if let Some(value) = leaves.remove(metric.name.as_ref()) {
            leaves.insert(column(metric), value);
        }
    }
    Ok(leaves)
}

/// `jvm.gc.pause_ns`
fn column(metric: &MetricDeclaration) -> String {
    let unit = match metric.unit {
        Unit::Nanoseconds => "_ns",
        Unit::Bytes => "_bytes",
        Unit::PerSecond => "_per_second",
        Unit::Count => "",
    };
    format!("{}{unit}", metric.name)
}

fn flatten(name: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let below = if name.is_empty() { key.clone() } else { format!("{name}_{key}") };
                flatten(&below, value, leaves);
            }
        }
        Value::Null => drop(leaves.insert(name.to_owned(), String::new())),
        Value::String(text) => drop(leaves.insert(name.to_owned(), text.clone())),
        other => drop(leaves.insert(name.to_owned(), other.to_string())),
    }
}
