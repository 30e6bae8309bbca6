//! A fixed number of deployments and blocks, each block a pass over all cells in random order, those of a load one after the other.

use std::time::Duration;

use loadline_model::CellId;
use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;

use super::{BlockContext, NextRound, RoundsSoFar, Strategy};
use crate::order::Order;
use crate::turn::{Turn, Visit};

/// The plan of an experiment.
pub struct FixedPlan<'a> {
    experiment: &'a Experiment,
    plan: &'a Plan,
    order: Order,
}

impl<'a> FixedPlan<'a> {
    /// The strategy of an experiment without `until`.
    pub fn new(experiment: &'a Experiment, plan: &'a Plan) -> FixedPlan<'a> {
        FixedPlan { experiment, plan, order: Order::new(experiment.plan.seed) }
    }

    /// The next round regardless of what was measured, unless it would end too late, as long as those before took.
    pub(super) fn another_round(&self, so_far: RoundsSoFar) -> NextRound {
        let is_over = |within: &Duration| {
            so_far.rounds > 0 && so_far.elapsed + so_far.elapsed / so_far.rounds > *within
        };
        if let Some(within) = self.experiment.plan.within.filter(is_over) {
            return NextRound::TimeIsUp { within };
        }
        NextRound::Deploy(self.order.stages(self.plan, self.experiment.plan.isolation, so_far.rounds))
    }

    /// The requested number of deployments.
    pub(super) fn deployments(&self) -> u32 {
        self.experiment.plan.deployments
    }
}

impl Strategy for FixedPlan<'_> {
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound {
        if so_far.rounds >= self.deployments() { NextRound::Enough } else { self.another_round(so_far) }
    }

    fn next_block(&mut self, at: &BlockContext<'_>) -> Option<Vec<Turn>> {
        if at.block >= self.experiment.plan.blocks {
            return None;
        }
        let gap =
            |load| self.experiment.load(load).load.rate().map_or(Duration::ZERO, |rate| rate.mean_gap());
        let plan = &self.experiment.plan;
        let due = |cell: &CellId| plan.is_measured_in(self.plan.load_of(*cell), at.block);
        let cells: Vec<CellId> = at.cells.iter().copied().filter(due).collect();
        let groups = self.order.block(self.plan, at.round, at.block, &cells, at.side_by_side, &gap);
        let length = |group: &[(CellId, _)]| {
            group.iter().map(|(cell, _)| plan.slices_of(self.plan.load_of(*cell)).length).sum()
        };
        let turn = |group: Vec<(CellId, Duration)>| Turn {
            // As long as their slices would have taken in sequence.
            duration: length(&group),
            visits: group.into_iter().map(|(cell, offset)| self.visit(at, cell, offset)).collect(),
        };
        Some(groups.into_iter().map(turn).collect())
    }
}

impl FixedPlan<'_> {
    fn visit(&self, at: &BlockContext<'_>, cell: CellId, offset: Duration) -> Visit {
        let planned = self.plan.cell(cell);
        Visit {
            site: planned.site,
            load: self.experiment.load(planned.load).load.clone(),
            cell,
            seed: self.order.schedule_seed(at.round, at.block, planned.load),
            offset,
            trial: None,
        }
    }
}
