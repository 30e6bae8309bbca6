//! vegeta: its attack writes every result to a file, from which its report is made afterwards.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Account, Contestant, Job, Load, Programs, Reported, Since};
use crate::child::{Ended, Invocation};
use crate::server::URL;
use crate::truth::Quantiles;

/// File with every result, in the working directory.
const RESULTS: &str = "vegeta.bin";

/// vegeta.
pub struct Vegeta<'a>(pub &'a Programs);

impl Contestant for Vegeta<'_> {
    fn name(&self) -> &str {
        "vegeta"
    }

    fn version(&self) -> String {
        self.0.peer_version("vegeta")
    }

    fn invocation(&self, job: &Job, folder: &Path) -> Result<Option<Invocation>> {
        let rate = match job.load {
            // Which means as fast as the workers go.
            Load::Closed => 0,
            Load::Uniform(rate) => rate,
            Load::Poisson(..) => return Ok(None),
        };
        let targets = folder.join("targets");
        fs::write(&targets, format!("GET {URL}\n"))?;
        let line = format!(
            "attack -rate={rate} -duration={}ms -connections={1} -workers={1} -max-workers={1} -output={RESULTS}",
            job.time.as_millis(),
            job.connections
        );
        Ok(Some(Invocation::of(self.0.peer("vegeta")).args(&line).arg("-targets=targets")))
    }

    fn account(&self, _ended: &Ended, folder: &Path) -> Result<Account> {
        let results = folder.join(RESULTS);
        let report =
            Command::new(self.0.peer("vegeta")).args(["report", "-type=json"]).arg(results).output()?;
        ensure!(report.status.success(), "vegeta report: {}", String::from_utf8_lossy(&report.stderr));
        account(&String::from_utf8_lossy(&report.stdout))
    }
}

#[derive(Deserialize)]
struct Output {
    requests: u64,
    rate: f64,
    success: f64,
    latencies: Latencies,
}

#[derive(Deserialize)]
struct Latencies {
    #[serde(rename = "50th")]
    p50: u64,
    #[serde(rename = "99th")]
    p99: u64,
}

fn account(report: &str) -> Result<Account> {
    let output: Output = serde_json::from_str(report).with_context(|| format!("vegeta said {report}"))?;
    let quantiles = Quantiles { p50_ns: output.latencies.p50 as f64, p99_ns: output.latencies.p99 as f64 };
    Ok(Account {
        requests: (output.requests as f64 * output.success).round() as u64,
        per_second: output.rate,
        times: vec![Reported { since: Since::Sent, quantiles }],
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_of_vegeta_is_read() {
        let account = account(include_str!("../../fixtures/vegeta.json")).expect("an account");
        assert_eq!((account.requests, account.per_second.round()), (1999, 2001.0));
        assert_eq!(account.times[0].quantiles, Quantiles { p50_ns: 83_843.0, p99_ns: 640_408.0 });
    }
}
