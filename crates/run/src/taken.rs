//! CPU time that others took from the services: on the CPUs that the services are pinned to, all that ran and was none of them.
//!
//! A kernel's thread that runs for 4 ms delays 8 of the 200 requests in a slice of 100 ms at 2000/s, and is 2 % of the CPU time of two CPUs
//! there: on a virtual machine p99 of such slices was 2.5 ms instead of 0.15. How much is usual depends on the path: a proxy outside of the
//! service's cgroup runs for each of its requests. So a slice is disturbed if far more was taken in it than in the slices of the same cell
//! before it. No response has a part in that.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use loadline_model::CellId;
use loadline_model::gates::{GateFailure, PAUSED_LEAST, PAUSED_PER_SECOND};
use loadline_model::metrics::{MetricDeclaration, Unit};

/// The latest slices of a cell that tell what is usual.
const WINDOW: usize = 20;
/// Fewer tell nothing.
const LEAST: usize = 4;
/// More than this times what is usual, and what a pause of the load's CPUs may take beside, is a disturbance.
const TIMES_USUAL: f64 = 2.0;

/// What was taken in a slice.
pub(crate) const TAKEN: &str = "cpu.taken";

/// The metric that it is.
pub(crate) fn metric() -> MetricDeclaration {
    MetricDeclaration::counter(TAKEN, Unit::Nanoseconds).of_the_measurement()
}

/// For how long tasks have run on the services' CPUs of the load's machine.
pub trait TaskTimes {
    /// The time until now; `None` if the kernel does not tell it.
    fn read(&self) -> Option<Duration>;
}

impl TaskTimes for loadline_observe::TaskTime {
    fn read(&self) -> Option<Duration> {
        loadline_observe::TaskTime::read(self)
    }
}

/// What was taken lately in the slices of each cell, ms per second.
#[derive(Default)]
pub(crate) struct Taken {
    usual: BTreeMap<CellId, VecDeque<f64>>,
}

impl Taken {
    /// Judges what was taken in a slice of a cell, and keeps it to judge the next ones by.
    pub fn judge(&mut self, cell: CellId, taken: Duration, slice: Duration) -> Option<GateFailure> {
        let per_second = 1e3 * taken.as_secs_f64() / slice.as_secs_f64();
        let latest = self.usual.entry(cell).or_default();
        let usual = median(latest);
        if latest.len() == WINDOW {
            latest.pop_front();
        }
        latest.push_back(per_second);
        let most = TIMES_USUAL * usual? + 1e3 * PAUSED_PER_SECOND.as_secs_f64();
        (per_second > most && taken > PAUSED_LEAST)
            .then_some(GateFailure::Taken { ms_per_second: per_second, most })
    }
}

fn median(latest: &VecDeque<f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = latest.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().filter(|_| sorted.len() >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Duration = Duration::from_millis(100);

    /// Which of some slices of a cell are disturbed, by what was taken in each, ms.
    fn disturbed(taken: &mut Taken, cell: usize, ms: &[f64]) -> Vec<usize> {
        let judge = |(at, ms): (usize, &f64)| {
            taken.judge(CellId(cell), Duration::from_secs_f64(ms / 1e3), SLICE).map(|_| at)
        };
        ms.iter().enumerate().filter_map(judge).collect()
    }

    #[test]
    fn a_slice_in_which_far_more_was_taken_than_before_is_disturbed() {
        let mut taken = Taken::default();
        assert_eq!(
            disturbed(&mut taken, 0, &[0.2, 0.1, 7.0, 0.3, 7.0, 0.2, 1.9, 0.1]),
            [4],
            "the first four tell what is usual"
        );
        let bound = taken.judge(CellId(0), Duration::from_millis(7), SLICE);
        assert_eq!(bound, Some(GateFailure::Taken { ms_per_second: 70.0, most: 16.0 }));
    }

    #[test]
    fn what_is_usual_on_a_path_disturbs_none_of_its_slices() {
        let mut taken = Taken::default();
        assert!(disturbed(&mut taken, 0, &[20.0; 30]).is_empty());
        assert_eq!(disturbed(&mut taken, 0, &[40.0, 42.0]), [1]);
        assert_eq!(disturbed(&mut taken, 1, &[0.0, 0.0, 0.0, 0.0, 20.0]), [4], "each cell has its own");
    }

    #[test]
    fn a_machine_that_gets_busier_has_a_new_usual() {
        let mut taken = Taken::default();
        let later = [[0.2; 20], [10.0; 20], [10.0; 20]].concat();
        let found = disturbed(&mut taken, 0, &later);
        assert!(!found.is_empty() && found.iter().all(|at| (20..30).contains(at)), "{found:?}");
    }
}
