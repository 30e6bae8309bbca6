//! hey: a rate is that of each connection; times are printed in steps of 0.1 ms.

use std::path::Path;

use anyhow::Result;

use super::{Account, Contestant, Job, Load, Reported, Since, number, package_version, seconds};
use crate::child::{Ended, Invocation};
use crate::server::URL;

/// hey.
pub struct Hey;

impl Contestant for Hey {
    fn name(&self) -> &str {
        "hey"
    }

    fn version(&self) -> String {
        package_version("hey")
    }

    fn invocation(&self, job: &Job, _folder: &Path) -> Result<Option<Invocation>> {
        let rate = match job.load {
            Load::Closed => String::new(),
            Load::Uniform(rate) => format!("-q {} ", f64::from(rate) / job.connections as f64),
            Load::Poisson(..) => return Ok(None),
        };
        let line = format!("-z {}ms -c {} {rate}{URL}", job.time.as_millis(), job.connections);
        Ok(Some(Invocation::of("hey").args(&line)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        account(&ended.stdout)
    }
}

fn account(stdout: &str) -> Result<Account> {
    let quantiles = seconds(number(stdout, "  50% in")?, number(stdout, "  99% in")?);
    Ok(Account {
        requests: number(stdout, "[200]")? as u64,
        per_second: number(stdout, "Requests/sec:")?,
        times: vec![Reported { since: Since::Sent, quantiles }],
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::Quantiles;

    #[test]
    fn an_account_of_hey_is_read() {
        let account = account(include_str!("../../fixtures/hey.txt")).expect("an account");
        assert_eq!((account.requests, account.per_second), (2000, 1990.6429));
        let quantiles = Quantiles { p50_ns: 300_000.0, p99_ns: 1_900_000.0 };
        assert_eq!(account.times, [Reported { since: Since::Sent, quantiles }]);
    }
}
