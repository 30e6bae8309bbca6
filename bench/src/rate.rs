//! Fixed rates: how far what a generator reports is from what the wire says of the very same requests.

use std::time::Duration;

use anyhow::{Context, Result};
use loadline_stats::{GoodnessOfFit, exponential_gaps};

use crate::arguments::Effort;
use crate::contestant::{Account, Contestant, Job, Load, Since};
use crate::exchange::pair;
use crate::place::Place;
use crate::server::ADDRESS;
use crate::tap::Tap;
use crate::truth::{Quantiles, Truth};
use crate::turns::{order, turn};

/// Requests a second, and how long.
const RATES: [(u32, Duration); 3] =
    [(100, Duration::from_secs(3)), (2000, Duration::from_secs(2)), (20_000, Duration::from_secs(2))];
/// The rate whose gaps are tested for being exponential, and how long.
const POISSON: (u32, Duration) = (2000, Duration::from_secs(2));
/// Connections kept open.
pub const CONNECTIONS: usize = 16;

/// One table.
pub struct Fixed {
    /// Requests a second as asked for.
    pub rate: u32,
    /// How long each run was.
    pub time: Duration,
    /// A row for each contestant.
    pub rows: Vec<Row>,
}

/// What a contestant did, round by round.
pub struct Row {
    /// Contestant.
    pub name: String,
    /// The command.
    pub command: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// One run and the truth about it.
pub struct Run {
    /// What the contestant said.
    pub account: Account,
    /// What the wire said.
    pub truth: Truth,
    /// Requests that left, as a share of those asked for.
    pub achieved: f64,
}

impl Run {
    /// What it reports less the time on the wire: from a request's leaving to its response's arrival, ns.
    pub fn errors(&self, since: Since) -> Option<Quantiles> {
        self.difference(since, self.truth.service)
    }

    /// What it reports less the time from an even schedule to the response's arrival, ns.
    pub fn errors_from_due(&self, since: Since) -> Option<Quantiles> {
        self.difference(since, self.truth.response)
    }

    fn difference(&self, since: Since, truth: Quantiles) -> Option<Quantiles> {
        let said = self.account.times.iter().find(|reported| reported.since == since)?.quantiles;
        Some(Quantiles { p50_ns: said.p50_ns - truth.p50_ns, p99_ns: said.p99_ns - truth.p99_ns })
    }
}

/// Measures every table.
pub fn measure(contestants: &[&dyn Contestant], place: &Place, effort: Effort) -> Result<Vec<Fixed>> {
    RATES.iter().map(|(rate, time)| table(*rate, effort.time(*time), contestants, place, effort)).collect()
}

fn table(
    rate: u32,
    time: Duration,
    contestants: &[&dyn Contestant],
    place: &Place,
    effort: Effort,
) -> Result<Fixed> {
    let job = Job { load: Load::Uniform(rate), connections: CONNECTIONS, time };
    let mut able = Vec::new();
    let mut rows = Vec::new();
    for contestant in contestants {
        if let Some(command) = contestant.invocation(&job, place.folder())? {
            able.push(*contestant);
            let (name, command) = (contestant.name().to_owned(), command.to_string());
            rows.push(Row { name, command, runs: Vec::new() });
        }
    }
    for round in 0..effort.rounds {
        for index in order(able.len(), round) {
            eprintln!("{rate}/s, round {}: {}", round + 1, rows[index].name);
            rows[index].runs.push(tapped(able[index], &job, rate, place)?);
        }
    }
    Ok(Fixed { rate, time, rows })
}

fn tapped(contestant: &dyn Contestant, job: &Job, rate: u32, place: &Place) -> Result<Run> {
    let asked = f64::from(rate) * job.time.as_secs_f64();
    let tap = Tap::open(ADDRESS.port(), asked as usize)?;
    let turn = turn(contestant, job, place)?.context("a contestant that worked before fails now")?;
    let truth = Truth::of(&pair(&tap.segments()?), f64::from(rate));
    let achieved = truth.requests as f64 / asked;
    Ok(Run { account: turn.account, truth, achieved })
}

/// The gaps between Poisson arrivals, as they left.
pub struct Poisson {
    /// Requests a second as asked for.
    pub rate: u32,
    /// The command.
    pub command: String,
    /// Of each round, which has a seed of its own: gaps and how well they fit.
    pub rounds: Vec<(usize, GoodnessOfFit)>,
}

/// Tests whether a contestant's Poisson arrivals are such on the wire; `None` if it knows none.
pub fn poisson(contestant: &dyn Contestant, place: &Place, effort: Effort) -> Result<Option<Poisson>> {
    let (rate, time) = (POISSON.0, effort.time(POISSON.1));
    let job =
        |round: u32| Job { load: Load::Poisson(rate, u64::from(round) + 1), connections: CONNECTIONS, time };
    let Some(command) = contestant.invocation(&job(0), place.folder())? else { return Ok(None) };
    let mut rounds = Vec::new();
    for round in 0..effort.rounds {
        eprintln!("{rate}/s Poisson, round {}: {}", round + 1, contestant.name());
        let run = tapped(contestant, &job(round), rate, place)?;
        let fit = exponential_gaps(&run.truth.gaps_s, f64::from(rate)).context("no gaps were seen")?;
        rounds.push((run.truth.gaps_s.len(), fit));
    }
    Ok(Some(Poisson { rate, command: command.to_string(), rounds }))
}
