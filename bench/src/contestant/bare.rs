//! The bare epoll loop of [`crate::bare`]: the minimum cost of any single-threaded generator.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Account, Contestant, Job, Load, number};
use crate::child::{Ended, Invocation};
use crate::server::ADDRESS;

/// This program itself, as a child.
pub struct Bare {
    /// Path of this program.
    pub program: PathBuf,
}

impl Contestant for Bare {
    fn name(&self) -> &str {
        "bare epoll loop"
    }

    fn version(&self) -> String {
        "bench/src/bare.rs".to_owned()
    }

    fn invocation(&self, job: &Job, _folder: &Path) -> Result<Option<Invocation>> {
        let Load::Closed = job.load else { return Ok(None) };
        let line = format!("bare {ADDRESS} {} {}", job.connections, job.time.as_secs_f64());
        Ok(Some(Invocation::of(&self.program).args(&line)))
    }

    fn account(&self, ended: &Ended, _folder: &Path) -> Result<Account> {
        let (requests, seconds) = (number(&ended.stdout, "requests")?, number(&ended.stdout, "seconds")?);
        Ok(Account { requests: requests as u64, per_second: requests / seconds, ..Account::default() })
    }
}
