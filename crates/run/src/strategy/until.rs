//! The fixed plan, deployed again and again until somebody who looks at the figures says that they will do.

use super::{BlockContext, FixedPlan, NextRound, RoundsSoFar, Strategy};
use crate::turn::Turn;

/// Goes on after the planned deployments until the figures are settled.
pub struct Until<'a> {
    plan: FixedPlan<'a>,
    is_settled: &'a mut dyn FnMut(u32) -> bool,
}

impl<'a> Until<'a> {
    /// `is_settled` is asked after each round from the planned number of deployments on, with how many there were.
    pub fn new(plan: FixedPlan<'a>, is_settled: &'a mut dyn FnMut(u32) -> bool) -> Until<'a> {
        Until { plan, is_settled }
    }
}

impl Strategy for Until<'_> {
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound {
        if so_far.rounds >= self.plan.deployments() && (self.is_settled)(so_far.rounds) {
            return NextRound::Enough;
        }
        self.plan.another_round(so_far)
    }

    fn next_block(&mut self, at: &BlockContext<'_>) -> Option<Vec<Turn>> {
        self.plan.next_block(at)
    }
}
