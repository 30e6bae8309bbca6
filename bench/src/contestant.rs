//! The load generators that are measured: how each is started, and how its own results are read.

mod bare;
mod hey;
mod k6;
mod loadline;
mod oha;
mod vegeta;
mod wrk;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::child::{Ended, Invocation};
use crate::truth::Quantiles;

pub use bare::Bare;
pub use hey::Hey;
pub use k6::K6;
pub use loadline::Loadline;
pub use oha::Oha;
pub use vegeta::Vegeta;
pub use wrk::Wrk;

/// What a generator is to do with [`crate::server::URL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// When requests are sent.
    pub load: Load,
    /// Connections kept open.
    pub connections: usize,
    /// How long.
    pub time: Duration,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// On every connection as soon as the last one is answered.
    Closed,
    /// This many a second, evenly.
    Uniform(u32),
    /// This many a second, with exponential gaps from a seed.
    Poisson(u32, u64),
}

/// What a generator says of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// Requests that were answered.
    pub requests: u64,
    /// Requests that failed, where it was asked for them.
    pub errors: u64,
    /// Answered requests a second.
    pub per_second: f64,
    /// The times it reports; none if that is not what it was asked for.
    pub times: Vec<Reported>,
    /// Its own send lag.
    pub send_lag: Option<Quantiles>,
    /// Whether it says itself that it was too late or too slow to be trusted.
    pub distrusts_itself: bool,
}

/// A time that a generator reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// From which moment on.
    pub since: Since,
    /// Its quantiles.
    pub quantiles: Quantiles,
}

/// From which moment a time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From when the request was due: response time.
    Due,
    /// From when the request was sent: service time.
    Sent,
}

/// A load generator.
pub trait Contestant {
    /// What the tables call it.
    fn name(&self) -> &str;

    /// Its version, or as much as is known.
    fn version(&self) -> String;

    /// The command that does the job; `None` if it can't do such a job. Files that it needs are written to `folder`, which
    /// is also its working directory.
    fn invocation(&self, job: &Job, folder: &Path) -> Result<Option<Invocation>>;

    /// Reads its account.
    fn account(&self, ended: &Ended, folder: &Path) -> Result<Account>;

    /// Whether it did its work; otherwise there is no account.
    fn succeeded(&self, ended: &Ended) -> bool {
        ended.status.success()
    }
}

/// Folders and files that contestants are in.
pub struct Programs {
    /// The loadline binary.
    pub loadline: PathBuf,
    /// Where `bench/install-peers` put the others.
    pub peers: PathBuf,
}

impl Programs {
    fn peer(&self, name: &str) -> PathBuf {
        self.peers.join("bin").join(name)
    }

    /// The version in the name of the file that `bench/install-peers` leaves: `.oha-1.16.0`.
    fn peer_version(&self, name: &str) -> String {
        let found = std::fs::read_dir(&self.peers).into_iter().flatten().flatten().find_map(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            Some(file.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('-')?.to_owned())
        });
        found.unwrap_or_else(|| "unknown".to_owned())
    }
}

/// The version of an installed Debian package.
pub fn package_version(name: &str) -> String {
    let asked = Command::new("dpkg-query").args(["--show", "--showformat", "${Version}", name]).output();
    let version = asked.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    version.map_or_else(|| "unknown".to_owned(), |version| String::from_utf8_lossy(&version).into_owned())
}

/// The number before or after `mark` in the first line of `text` that has the mark.
fn number(text: &str, mark: &str) -> Result<f64> {
    let line =
        text.lines().find(|line| line.contains(mark)).with_context(|| format!("no `{mark}` in\n{text}"))?;
    let (before, after) = line.split_once(mark).unwrap_or_default();
    let words = after.split_whitespace().chain(before.split_whitespace().rev());
    words
        .filter_map(|word| word.parse().ok())
        .next()
        .with_context(|| format!("no number beside `{mark}` in `{line}`"))
}

/// Quantiles given in seconds.
fn seconds(p50: f64, p99: f64) -> Quantiles {
    Quantiles { p50_ns: p50 * 1e9, p99_ns: p99 * 1e9 }
}
