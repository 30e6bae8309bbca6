//! The fixed plan, with further deployments until the figures are precise enough.

use super::{BlockContext, FixedPlan, NextRound, RoundsSoFar, Strategy};
use crate::turn::Turn;

/// Continues after the planned deployments until the figures are settled.
pub struct Until<'a> {
    plan: FixedPlan<'a>,
    is_settled: &'a mut dyn FnMut(u32) -> bool,
}

impl<'a> Until<'a> {
    /// `is_settled` is called with the number of deployments after each round, from the planned number on.
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
