//! wrk: the closed loop that the others are compared with. It has no rate; wrk2, its descendant that does, is in no
//! package.

use std::path::Path;

use anyhow::Result;

use super::{Account, Contestant, Job, Load, number, package_version};
use crate::child::{Ended, Invocation};
use crate::server::URL;

/// wrk with one thread.
pub struct Wrk;

impl Contestant for Wrk {
    fn name(&self) -> &str {
        "wrk"
    }

    fn version(&self) -> String {
        package_version("wrk")
    }

    fn invocation(&self, job: &Job, _folder: &Path) -> Result<Option<Invocation>> {
        let Load::Closed = job.load else { return Ok(None) };
        let line = format!("-t1 -c{} -d{}s {URL}", job.connections, job.time.as_secs().max(1));
        Ok(Some(Invocation::of("wrk").args(&line)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        account(&ended.stdout)
    }
}

fn account(stdout: &str) -> Result<Account> {
    Ok(Account {
        requests: number(stdout, "requests in")? as u64,
        per_second: number(stdout, "Requests/sec:")?,
        ..Account::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_of_wrk_is_read() {
        let account = account(include_str!("../../fixtures/wrk.txt")).expect("an account");
        assert_eq!((account.requests, account.per_second), (107_807, 107_693.6));
    }

    #[test]
    fn an_output_without_the_counts_is_an_error_that_names_what_is_missing() {
        let error = account("unable to connect").expect_err("an error");
        assert!(error.to_string().contains("requests in"), "{error}");
    }
}
