//! k6: a script that does nothing but the request, with as many virtual users as there are connections.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::{Account, Contestant, Job, Load, Programs, Reported, Since};
use crate::child::{Ended, Invocation};
use crate::server::URL;
use crate::truth::Quantiles;

/// k6.
pub struct K6<'a>(pub &'a Programs);

impl Contestant for K6<'_> {
    fn name(&self) -> &str {
        "k6"
    }

    fn version(&self) -> String {
        self.0.peer_version("k6")
    }

    fn invocation(&self, job: &Job, folder: &Path) -> Result<Option<Invocation>> {
        let (users, duration) = (job.connections, format!("{}ms", job.time.as_millis()));
        let scenario = match job.load {
            Load::Closed => json!({
                "executor": "constant-vus", "vus": users, "duration": duration, "gracefulStop": "1s",
            }),
            Load::Uniform(rate) => json!({
                "executor": "constant-arrival-rate", "rate": rate, "timeUnit": "1s", "duration": duration,
                "preAllocatedVUs": users, "maxVUs": users, "gracefulStop": "1s",
            }),
            Load::Poisson(..) => return Ok(None),
        };
        let script = folder.join("k6.js");
        fs::write(&script, include_str!("k6.js"))?;
        let k6 = Invocation::of(self.0.peer("k6")).args("run --quiet --no-usage-report");
        let k6 = k6.args(&format!("-e URL={URL} -e")).arg(format!("SCENARIO={scenario}"));
        Ok(Some(k6.arg(script)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        account(&ended.stdout)
    }
}

#[derive(Deserialize)]
struct Output {
    http_reqs: Metric<Counter>,
    http_req_duration: Metric<Trend>,
}

#[derive(Deserialize)]
struct Metric<T> {
    values: T,
}

#[derive(Deserialize)]
struct Counter {
    count: u64,
    rate: f64,
}

/// In milliseconds.
#[derive(Deserialize)]
struct Trend {
    med: f64,
    #[serde(rename = "p(99)")]
    p99: f64,
}

fn account(stdout: &str) -> Result<Account> {
    let output: Output = serde_json::from_str(stdout).with_context(|| format!("k6 said {stdout}"))?;
    let trend = output.http_req_duration.values;
    let quantiles = Quantiles { p50_ns: trend.med * 1e6, p99_ns: trend.p99 * 1e6 };
    Ok(Account {
        requests: output.http_reqs.values.count,
        per_second: output.http_reqs.values.rate,
        times: vec![Reported { since: Since::Sent, quantiles }],
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_of_k6_is_read() {
        let account = account(include_str!("../../fixtures/k6.json")).expect("an account");
        assert_eq!((account.requests, account.per_second.round()), (2001, 1999.0));
        let quantiles = account.times[0].quantiles;
        assert_eq!((quantiles.p50_ns.round(), quantiles.p99_ns.round()), (85_480.0, 1_044_198.0));
    }
}
