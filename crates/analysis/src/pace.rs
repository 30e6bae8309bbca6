//! How long a run will still take, from how long it took so far.

use std::time::Duration;

use loadline_model::experiment::{Experiment, Isolation};
use loadline_model::plan::Site;

/// How much a run has to do.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    blocks: u64,
    deployments: u32,
    open_ended: bool,
    /// The time that it has.
    within: Option<Duration>,
}

/// How long it still takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing tells yet: most of the first deployment's time is that of its start.
    Unknown,
    /// As long as the intervals are too wide.
    UntilNarrow,
    /// About so long.
    About(Duration),
}

impl Pace {
    /// Of a run of this experiment with these sites.
    pub fn of(experiment: &Experiment, sites: &[Site]) -> Pace {
        let plan = &experiment.plan;
        let stages = match plan.isolation {
            Isolation::Shared => 1,
            Isolation::Exclusive => sites.len() as u64,
        };
        // A search finds out by itself how many there are.
        let searches = experiment.capacity.is_some();
        Pace {
            blocks: if searches { 0 } else { u64::from(plan.blocks) * u64::from(plan.deployments) * stages },
            deployments: plan.deployments,
            open_ended: plan.until.is_some() || searches,
            within: plan.within,
        }
    }

    /// Blocks of all stages; 0 if only the run finds out.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// After so many blocks, the last of them in this round of deployments.
    pub fn left(&self, round: u32, blocks_done: u64, elapsed: Duration) -> Left {
        if self.open_ended && blocks_done >= self.blocks {
            return Left::UntilNarrow;
        }
        if round == 0 && self.deployments > 1 {
            return Left::Unknown;
        }
        let each = elapsed.as_secs_f64() / blocks_done.max(1) as f64;
        let planned = Duration::from_secs_f64(each * self.blocks.saturating_sub(blocks_done) as f64);
        Left::About(self.within.map_or(planned, |within| planned.min(within.saturating_sub(elapsed))))
    }
}

impl Left {
    /// The seconds, where they are known.
    pub fn seconds(self) -> Option<f64> {
        match self {
            Left::About(left) => Some(left.as_secs_f64()),
            Left::Unknown | Left::UntilNarrow => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { blocks: 20, deployments: 2, open_ended: false, within: None };

    #[test]
    fn it_goes_on_as_it_went_so_far() {
        let left = |blocks_done| PACE.left(1, blocks_done, Duration::from_secs(30));
        assert_eq!(left(15), Left::About(Duration::from_secs(10)));
        assert_eq!(left(20), Left::About(Duration::ZERO));
    }

    #[test]
    fn it_takes_no_longer_than_it_may() {
        let limited = Pace { within: Some(Duration::from_secs(33)), ..PACE };
        assert_eq!(limited.left(1, 15, Duration::from_secs(30)).seconds(), Some(3.0));
        assert_eq!(limited.left(1, 15, Duration::from_secs(40)).seconds(), Some(0.0));
    }

    #[test]
    fn nothing_is_known_in_the_first_of_several_deployments() {
        assert_eq!(PACE.left(0, 5, Duration::from_secs(30)), Left::Unknown);
        let once = Pace { deployments: 1, ..PACE };
        assert_eq!(once.left(0, 5, Duration::from_secs(5)).seconds(), Some(15.0));
    }

    #[test]
    fn a_run_of_no_fixed_length_has_no_end_beyond_its_plan() {
        let open = Pace { open_ended: true, ..PACE };
        assert_eq!(open.left(1, 20, Duration::from_secs(30)), Left::UntilNarrow);
        assert_eq!(open.left(1, 10, Duration::from_secs(30)), Left::About(Duration::from_secs(30)));
    }
}
