//! loadline itself, by its command line as a user has it, once for each way of taking timestamps.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Account, Contestant, Job, Load, Reported, Since};
use crate::child::{Ended, Invocation};
use crate::server::URL;
use crate::truth::Quantiles;

/// Exit code of a measurement that loadline itself does not trust.
const NOT_TRUSTED: i32 = 3;

/// loadline with one thread.
pub struct Loadline {
    program: PathBuf,
    cpu: usize,
    name: &'static str,
    timestamps: &'static str,
}

impl Loadline {
    /// By its own clock and by the kernel's, its thread on `cpu`.
    pub fn variants(program: &Path, cpu: usize) -> Vec<Loadline> {
        let variant = |name, timestamps| Loadline { program: program.to_owned(), cpu, name, timestamps };
        vec![variant("loadline", "user"), variant("loadline, kernel timestamps", "kernel")]
    }
}

impl Contestant for Loadline {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> String {
        let asked = Command::new(&self.program).arg("--version").output();
        let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        said.ok().and_then(|said| said.rsplit(' ').next().map(str::to_owned)).unwrap_or_default()
    }

    fn invocation(&self, job: &Job, _folder: &Path) -> Result<Option<Invocation>> {
        let load = match job.load {
            Load::Closed => "--closed".to_owned(),
            Load::Uniform(rate) => format!("--rate {rate}/s --arrivals uniform"),
            Load::Poisson(rate, seed) => format!("--rate {rate}/s --arrivals poisson --seed {seed}"),
        };
        let (connections, time) = (job.connections, job.time.as_millis());
        let line = format!("load {URL} {load} --connections {connections} --for {time}ms");
        let how = format!("--cpus {} --timestamps {} --json -", self.cpu, self.timestamps);
        Ok(Some(Invocation::of(&self.program).args(&line).args(&how)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        let distrusts_itself = ended.status.code() == Some(NOT_TRUSTED);
        Ok(Account { distrusts_itself, ..read(&ended.stdout)? })
    }

    fn succeeded(&self, ended: &Ended) -> bool {
        matches!(ended.status.code(), Some(0 | NOT_TRUSTED))
    }
}

/// What `--json -` prints, as far as it is wanted here.
#[derive(Deserialize)]
struct Output {
    counts: Counts,
    answered_per_second: f64,
    times: Times,
}

#[derive(Deserialize)]
struct Counts {
    answered: u64,
    errors: u64,
}

#[derive(Deserialize)]
struct Times {
    response: Quantiles,
    service: Quantiles,
    send_lag: Quantiles,
}

fn read(stdout: &str) -> Result<Account> {
    let output: Output = serde_json::from_str(stdout).with_context(|| format!("loadline said {stdout}"))?;
    let Output { counts, answered_per_second, times } = output;
    Ok(account(
        [counts.answered, counts.errors],
        answered_per_second,
        [times.response, times.service, times.send_lag],
    ))
}

fn account(
    [requests, errors]: [u64; 2],
    per_second: f64,
    [response, service, send_lag]: [Quantiles; 3],
) -> Account {
    Account {
        requests,
        errors,
        per_second,
        times: vec![
            Reported { since: Since::Due, quantiles: response },
            Reported { since: Since::Sent, quantiles: service },
        ],
        send_lag: Some(send_lag),
        distrusts_itself: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_read_from_json() {
        let output = r#"{"counts": {"answered": 5998, "errors": 2}, "answered_per_second": 1999.0, "more": 1, "times": {
            "response": {"p50_ns": 61200, "p90_ns": 70100, "p99_ns": 104000},
            "service": {"p50_ns": 59900, "p99_ns": 99300}, "send_lag": {"p50_ns": 812, "p99_ns": 3200}}}"#;
        let quantiles = |p50_ns, p99_ns| Quantiles { p50_ns, p99_ns };
        let times =
            [quantiles(61_200.0, 104_000.0), quantiles(59_900.0, 99_300.0), quantiles(812.0, 3_200.0)];
        assert_eq!(read(output).expect("an account"), account([5998, 2], 1999.0, times));
    }
}
