//! What recording one request costs, from criterion's results of `crates/engine/benches/record.rs`.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Name of the benchmark, which names its folder as well.
const BENCHMARK: &str = "record one request";

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

/// In nanoseconds.
#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// Median, ns; `None` if the benchmark was not run.
pub fn read(criterion: &Path) -> Result<Option<f64>> {
    let file = criterion.join(BENCHMARK).join("new/estimates.json");
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            let estimates: Estimates = serde_json::from_str(&text)
                .with_context(|| format!("{} is not criterion's", file.display()))?;
            Ok(Some(estimates.median.point_estimate))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}
