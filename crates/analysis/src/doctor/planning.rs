//! How a comparison would be laid out in so much time, and what it would tell.

use std::time::Duration;

use loadline_model::experiment::PlanSpec;
use loadline_model::result::doctor::{NoiseRun, Resolution};
use loadline_stats::{VarianceComponents, detectable_difference};

/// The times that are told of.
const MINUTES: [u32; 3] = [1, 10, 60];
/// Cells of the run that shows the noise: a service and its twin.
const CELLS_OF_NOISE: f64 = 2.0;
/// Cells of a comparison: two platforms, and the twin of the first.
const CELLS_OF_COMPARISON: f64 = 3.0;
/// The variance of the difference from a baseline that its twin is pooled into, as a share of that between the two.
const POOLED: f64 = 0.75;
/// Fewest blocks of a deployment that are worth deploying for.
const LEAST_BLOCKS: f64 = 3.0;
/// How long a cell is measured in a deployment at most. Beyond it the noise of a deployment is correlated, and supposed not to be here.
const LONGEST_CELL: Duration = Duration::from_millis(3600);

/// What a deployment of a comparison takes.
pub struct Planning {
    overhead_s: f64,
    block_s: f64,
    most_blocks: f64,
}

/// A comparison of so many minutes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub minutes: u32,
    pub deployments: u32,
    pub blocks: u32,
}

impl Planning {
    /// As in the run that shows the noise, with a cell more.
    pub fn of(run: &NoiseRun) -> Planning {
        let cells = CELLS_OF_COMPARISON / CELLS_OF_NOISE;
        Planning {
            overhead_s: cells * run.overhead_seconds / run.deployments.max(1) as f64,
            block_s: CELLS_OF_COMPARISON * run.slice_s,
            most_blocks: (LONGEST_CELL.as_secs_f64() / run.slice_s).max(LEAST_BLOCKS),
        }
    }

    /// For each time, the number of deployments and blocks that tells the smallest difference with these variances. A time in which
    /// nothing can be told has no plan.
    pub fn plans(&self, variances: &VarianceComponents) -> Vec<Plan> {
        MINUTES.into_iter().filter_map(|minutes| self.best(minutes, variances)).collect()
    }

    fn best(&self, minutes: u32, variances: &VarianceComponents) -> Option<Plan> {
        let seconds = f64::from(minutes) * 60.0;
        let most = (seconds / (self.overhead_s + LEAST_BLOCKS * self.block_s)).floor() as u32;
        let most = most.min(PlanSpec::MOST_DEPLOYMENTS);
        let plans = (2..=most).map(|deployments| {
            let blocks = (seconds / f64::from(deployments) - self.overhead_s) / self.block_s;
            Plan { minutes, deployments, blocks: blocks.min(self.most_blocks).floor() as u32 }
        });
        plans.min_by(|one, other| one.tells(variances).total_cmp(&other.tells(variances)))
    }
}

impl Plan {
    /// What it would tell.
    pub fn resolution(&self, variances: &VarianceComponents) -> Resolution {
        Resolution {
            minutes: self.minutes,
            deployments: self.deployments,
            blocks: self.blocks,
            difference: self.tells(variances),
        }
    }

    fn tells(&self, variances: &VarianceComponents) -> f64 {
        let (deployments, blocks) = (f64::from(self.deployments), f64::from(self.blocks));
        let of_the_twin = variances.standard_error(deployments, blocks);
        detectable_difference(of_the_twin * POOLED.sqrt(), deployments - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deployment takes 3 s besides its blocks of 0.3 s.
    fn planning() -> Planning {
        Planning::of(&NoiseRun {
            label: String::new(),
            site: String::new(),
            load: String::new(),
            deployments: 8,
            blocks: 12.0,
            slice_s: 0.1,
            seconds: 16.0 + 8.0 * 2.4,
            overhead_seconds: 16.0,
            disturbed_slices: 0,
            slices: 192,
        })
    }

    #[test]
    fn where_deployments_differ_more_of_them_are_worth_more_than_more_blocks() {
        let plans = |between, within| planning().plans(&VarianceComponents { between, within });
        let (alike, different) = (plans(0.0, 9.0), plans(9.0, 1.0));
        assert!(alike[0].blocks > different[0].blocks && alike[0].deployments < different[0].deployments);
        assert_eq!(alike.iter().map(|plan| plan.minutes).collect::<Vec<_>>(), [1, 10, 60]);
        for plan in alike.iter().chain(&different) {
            let seconds = f64::from(plan.deployments) * (3.0 + 0.3 * f64::from(plan.blocks));
            assert!(seconds <= f64::from(plan.minutes) * 60.0 && plan.blocks <= 36, "{plan:?}");
        }
    }

    #[test]
    fn ten_times_the_time_tells_about_a_third_of_the_difference() {
        let variances = VarianceComponents { between: 1.0, within: 9.0 };
        let tells: Vec<f64> =
            planning().plans(&variances).iter().map(|plan| plan.resolution(&variances).difference).collect();
        // In a minute there are few deployments, which costs more than the root of the time.
        assert!((3.0..5.0).contains(&(tells[0] / tells[1])), "{tells:?}");
        assert!((tells[1] / tells[2] / 6_f64.sqrt() - 1.0).abs() < 0.1, "{tells:?}");
    }

    #[test]
    fn a_time_that_is_too_short_for_two_deployments_has_no_plan() {
        let slow = Planning { overhead_s: 40.0, ..planning() };
        let plans = slow.plans(&VarianceComponents { between: 1.0, within: 1.0 });
        assert_eq!(plans.first().map(|plan| plan.minutes), Some(10));
    }
}
