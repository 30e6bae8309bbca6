//! Rounds in which every contestant has its turn, each round beginning with another one, so that a drift of the machine
//! hits all alike.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::child::Running;
use crate::contestant::{Account, Contestant, Job};
use crate::place::Place;

/// What one turn left.
pub struct Turn {
    /// The contestant's own account.
    pub account: Account,
    /// User and system time of its process.
    pub cpu: Duration,
}

/// How much longer than its job a contestant may take to start and to end.
const GRACE: Duration = Duration::from_secs(30);

/// Lets a contestant do a job; `None` if it can't do such.
pub fn turn(contestant: &dyn Contestant, job: &Job, place: &Place) -> Result<Option<Turn>> {
    place.go_on()?;
    let Some(invocation) = contestant.invocation(job, place.folder())? else { return Ok(None) };
    let process = Running::start(&invocation, place.generator_cpu, place.folder())?;
    let ended = process.finish(job.time + GRACE)?;
    place.go_on()?;
    ensure!(
        contestant.succeeded(&ended),
        "`{invocation}` ended with {}: {}{}",
        ended.status,
        ended.stderr,
        ended.stdout
    );
    let account = contestant.account(&ended, place.folder());
    Ok(Some(Turn { account: account.with_context(|| format!("after `{invocation}`"))?, cpu: ended.cpu }))
}

/// The order of a round: as listed, rotated by one from round to round.
pub fn order(contestants: usize, round: u32) -> impl Iterator<Item = usize> {
    (0..contestants).map(move |index| (index + round as usize) % contestants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_one_turn_a_round_and_each_place_in_turn() {
        let rounds: Vec<Vec<usize>> = (0..3).map(|round| order(3, round).collect()).collect();
        assert_eq!(rounds, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    }
}
