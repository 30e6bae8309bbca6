//! oha: with a rate, its times count from the moment a request was due (`--latency-correction`).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Account, Contestant, Job, Load, Programs, Reported, Since, seconds};
use crate::child::{Ended, Invocation};
use crate::server::URL;

/// oha.
pub struct Oha<'a>(pub &'a Programs);

impl Contestant for Oha<'_> {
    fn name(&self) -> &str {
        "oha"
    }

    fn version(&self) -> String {
        self.0.peer_version("oha")
    }

    fn invocation(&self, job: &Job, _folder: &Path) -> Result<Option<Invocation>> {
        let rate = match job.load {
            Load::Closed => String::new(),
            Load::Uniform(rate) => format!("-q {rate} --latency-correction "),
            Load::Poisson(..) => return Ok(None),
        };
        let line = format!(
            "--no-tui --output-format json -z {}ms -c {} {rate}{URL}",
            job.time.as_millis(),
            job.connections
        );
        Ok(Some(Invocation::of(self.0.peer("oha")).args(&line)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        account(&ended.stdout)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    latency_percentiles: BTreeMap<String, f64>,
    status_code_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    requests_per_sec: f64,
}

fn account(stdout: &str) -> Result<Account> {
    let output: Output = serde_json::from_str(stdout).with_context(|| format!("oha said {stdout}"))?;
    let at = |name: &str| {
        output.latency_percentiles.get(name).copied().with_context(|| format!("oha's output has no {name}"))
    };
    Ok(Account {
        requests: output.status_code_distribution.get("200").copied().unwrap_or(0),
        per_second: output.summary.requests_per_sec,
        times: vec![Reported { since: Since::Due, quantiles: seconds(at("p50")?, at("p99")?) }],
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_of_oha_is_read() {
        let account = account(include_str!("../../fixtures/oha.json")).expect("an account");
        assert_eq!((account.requests, account.per_second.round()), (2000, 1998.0));
        let quantiles = account.times[0].quantiles;
        assert_eq!((quantiles.p50_ns.round(), quantiles.p99_ns.round()), (76_990.0, 289_949.0));
    }
}
