//! What a run would do, from the same strategy, order and warm-up that the run takes; nothing is started.

use std::time::Duration;

use loadline_model::experiment::{Experiment, Interleave, Nodes};
use loadline_model::load::{ConnectionOptions, Reuse};
use loadline_model::plan::Plan;
use loadline_model::platform::{Capabilities, Starts};
use loadline_model::preview::{Preview, PreviewCell, PreviewTurn, Range, TimeBudget};
use loadline_model::rows::TrialOutcome;
use loadline_model::{CellId, LoadId, SiteId};

use crate::error::RunError;
use crate::strategy::{
    BlockContext, FixedPlan, NextRound, RoundsSoFar, SearchCapacity, Strategy, in_time, trials_s,
};
use crate::{profile, side_by_side, warm_up};

/// The plan of an experiment, its first block and its time.
///
/// # Errors
/// When a load cannot be warmed up, or a search cannot end in the time that it has.
pub fn preview(experiment: &Experiment, plan: &Plan) -> Result<Preview, RunError> {
    let mut fixed = FixedPlan::new(experiment, plan);
    let searched = experiment.capacity.as_ref();
    if let Some(capacity) = searched {
        in_time(experiment, capacity, plan)?;
    }
    let mut search = searched
        .map(|capacity| SearchCapacity::new(experiment, capacity, plan, &|_, _| TrialOutcome::Passed));
    let strategy: &mut dyn Strategy = match &mut search {
        Some(search) => search,
        None => &mut fixed,
    };
    let stages = match strategy.next_round(RoundsSoFar { rounds: 0, elapsed: Duration::ZERO }) {
        NextRound::Deploy(stages) => stages,
        NextRound::Enough | NextRound::TimeIsUp { .. } => Vec::new(),
    };
    let first_stage = stages.first().cloned().unwrap_or_default();
    let ready = in_order_of_readiness(experiment, plan, &first_stage);
    let cells: Vec<CellId> =
        ready.iter().flat_map(|site| plan.cells_of(*site)).map(|(cell, _)| cell).collect();
    let slow = |cell: &CellId| side_by_side::may_be(experiment, plan.load_of(*cell));
    let side_by_side: Vec<CellId> = cells.iter().copied().filter(slow).collect();
    let at = BlockContext { round: 0, block: 0, cells: &cells, side_by_side: &side_by_side };
    let turns = strategy.next_block(&at).unwrap_or_default();
    let turn = |turn: crate::Turn| PreviewTurn {
        cells: turn.visits.iter().map(|visit| visit.cell).collect(),
        seconds: turn.duration.as_secs_f64(),
    };
    Ok(Preview {
        sites: plan.sites.iter().map(|site| site.label(experiment)).collect(),
        cells: plan.cell_ids().map(|cell| preview_cell(experiment, plan, cell)).collect(),
        seed: plan.seed,
        first_stage,
        stages: stages.len(),
        first_block: turns.into_iter().map(turn).collect(),
        side_by_side_if_idle: !side_by_side.is_empty() && experiment.plan.interleave == Interleave::Auto,
        time: time(experiment, plan)?,
    })
}

/// The sites of a stage as the fleet has them: those that hold back come after those that answer at once.
fn in_order_of_readiness(experiment: &Experiment, plan: &Plan, sites: &[SiteId]) -> Vec<SiteId> {
    let holds_back = |site: &SiteId| can(experiment, plan, *site).holds_back;
    let (late, early): (Vec<SiteId>, Vec<SiteId>) = sites.iter().copied().partition(holds_back);
    [early, late].concat()
}

fn can(experiment: &Experiment, plan: &Plan, site: SiteId) -> Capabilities {
    let platform = experiment.platform(plan.site(site).platform);
    platform.kind.capabilities(experiment.plan.nodes == Nodes::Own)
}

fn preview_cell(experiment: &Experiment, plan: &Plan, id: CellId) -> PreviewCell {
    let cell = plan.cell(id);
    let (load, slices) = (experiment.load(cell.load), experiment.plan.slices_of(cell.load));
    let of_cell = plan.contrasts.iter().filter(|contrast| contrast.candidate == id);
    PreviewCell {
        site: cell.site,
        load: load.load.to_string(),
        load_name: load.name.clone(),
        connections: load.connections,
        new_connections: load.reuse == Reuse::Never,
        options: ConnectionOptions::from(load),
        slices: slices.count,
        slice_s: slices.length.as_secs_f64(),
        role: cell.role,
        against: of_cell.map(|contrast| contrast.baseline).collect(),
    }
}

fn time(experiment: &Experiment, plan: &Plan) -> Result<TimeBudget, RunError> {
    let asked = &experiment.plan;
    let deployments = f64::from(asked.deployments);
    let of_cell = |cell: CellId| {
        let slices = asked.slices_of(plan.load_of(cell));
        f64::from(slices.count) * slices.length.as_secs_f64()
    };
    let trials_s = experiment.capacity.as_ref().map(|capacity| trials_s(experiment, capacity, plan));
    let slices_s =
        if trials_s.is_some() { 0.0 } else { deployments * plan.cell_ids().map(of_cell).sum::<f64>() };
    let repeats_s = Range { least: 0.0, most: slices_s * f64::from(asked.repeats) };
    let (mut warm_ups, mut starts) = (Range::default(), Range::default());
    for site in plan.site_ids() {
        let is_external = can(experiment, plan, site).starts == Starts::Nothing;
        let loads: Vec<LoadId> = plan.cells_of(site).map(|(_, load)| load).collect();
        let each = warm_up::bounds(experiment, &loads, is_external)?;
        warm_ups.least += each.least;
        warm_ups.most += each.most;
        starts.most += experiment.service(plan.site(site).service).ready.within.as_secs_f64() * deployments;
    }
    let profiles_s = asked.profile.map_or(0.0, |length| {
        let rounds = (0..asked.deployments).filter(|round| profile::is_profiled(asked, *round)).count();
        rounds as f64 * plan.cells.len() as f64 * profile::duration_of_cell(length).as_secs_f64()
    });
    let fixed_s = slices_s + profiles_s;
    let searched_s = trials_s.unwrap_or_default();
    Ok(TimeBudget {
        deployments: asked.deployments,
        blocks: asked.blocks,
        slices_s,
        trials_s,
        repeats_s,
        warm_ups_s: warm_ups,
        starts_s: starts,
        profiles_s,
        total_s: Range {
            least: fixed_s + searched_s.least + warm_ups.least,
            most: fixed_s + searched_s.most + repeats_s.most + warm_ups.most + starts.most,
        },
        within_s: asked.within.map(|within| within.as_secs_f64()),
        open_ended: asked.until.is_some(),
    })
}
