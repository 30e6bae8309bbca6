//! The search for the most that each cell carries. Each block has one trial of every cell whose search goes on, each at a rate of its own, so
//! that the cells share good and bad times.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::experiment::{Capacity, Experiment};
use loadline_model::load::{Arrivals, Load, Rate};
use loadline_model::plan::Plan;
use loadline_model::preview::Range;
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome, TrialRow};
use loadline_model::{CellId, LoadId};
use loadline_search::{
    Confirmed, Goal, MOST_LOST, MOST_TRIALS, Next, Patience, Probe, Trial, estimate, fewest_slices, next,
};

use super::{BlockContext, NextRound, RoundsSoFar, Strategy};
use crate::order::Order;
use crate::turn::{Turn, Visit};

/// The least rate that is tried, of a service that carries nothing, unless the search begins or is to end below it.
const LEAST: f64 = 1.0;
/// A rate that the generator could not send is its limit once this has happened so often.
const UNSENT: usize = 2;
/// The limit, of the lowest rate that could not be sent.
const BELOW_UNSENT: f64 = 0.95;
/// Blocks in which all cells are compared at the same rate, and as many in which each is at its own.
const COMPARED: usize = 8;
/// Where the search of a later deployment begins, of what the earlier one found.
const FROM_EARLIER: f64 = 0.8;

/// Judges a slice of a search.
pub type Judge<'a> = &'a dyn Fn(&SliceRow, &mut Patience) -> TrialOutcome;

/// How long the trials of all cells take in all deployments, s: of a search without noise at high rates, and of one that is never sure at the rate
/// where it begins. Trials that the machine disturbs are not in it.
pub(crate) fn trials_s(experiment: &Experiment, capacity: &Capacity, plan: &Plan) -> Range {
    let compared = if plan.cells.len() > 1 { 2 * COMPARED } else { 0 };
    let of = |slices: usize, rate: f64| slices as f64 * capacity.slice_s(rate);
    let begins = plan.cell_ids().map(|cell| experiment.load(plan.load_of(cell)).load.rate());
    let begins = begins.map(|rate| rate.map_or(LEAST, |rate| rate.as_per_second()));
    let deployments = f64::from(experiment.plan.deployments);
    Range {
        least: deployments * (least_s(capacity, plan) + of(plan.cells.len() * compared, f64::INFINITY)),
        most: deployments * begins.map(|rate| of(MOST_TRIALS + compared, rate)).sum::<f64>(),
    }
}

/// How long the searches of all cells take in a deployment at least, s: without noise, at high rates.
pub(super) fn least_s(capacity: &Capacity, plan: &Plan) -> f64 {
    plan.cells.len() as f64 * fewest_slices(capacity.precision) * capacity.slice_s(f64::INFINITY)
}

/// The strategy of an experiment that searches for capacities.
pub struct SearchCapacity<'a> {
    experiment: &'a Experiment,
    capacity: &'a Capacity,
    plan: &'a Plan,
    order: Order,
    goal: Goal,
    judge: Judge<'a>,
    cells: BTreeMap<CellId, CellSearch>,
    /// The last attempts at the trials of the current block.
    tried: BTreeMap<CellId, (Probe, TrialOutcome)>,
    elapsed: Duration,
    /// Blocks in which cells were compared in this deployment.
    compared: usize,
}

/// The search of a cell in one deployment.
struct CellSearch {
    goal: Goal,
    trials: Vec<Trial>,
    /// What is tried next, one a block.
    planned: Vec<Probe>,
    /// Rates that could not be sent.
    unsent: Vec<f64>,
    /// Attempts that were no trials.
    lost: usize,
    /// With what the machine disturbs.
    patience: Patience,
}

impl CellSearch {
    fn new(goal: Goal) -> CellSearch {
        CellSearch {
            goal,
            trials: Vec::new(),
            planned: Vec::new(),
            unsent: Vec::new(),
            lost: 0,
            patience: Patience::default(),
        }
    }

    /// The next trial, if the search is not over.
    fn next(&mut self) -> Option<Probe> {
        if self.lost >= MOST_LOST {
            return None;
        }
        if self.planned.is_empty() {
            let Next::Try(probes) = next(&self.goal, &self.trials) else { return None };
            self.planned = probes;
        }
        Some(self.planned[0])
    }

    fn tried(&mut self, probe: Probe, outcome: TrialOutcome) {
        let Probe { rate, slices, purpose } = probe;
        let trial = |passed| Trial { rate, slices, passed, purpose };
        match outcome {
            TrialOutcome::Passed => self.trials.push(trial(true)),
            TrialOutcome::Failed(_) => self.trials.push(trial(false)),
            TrialOutcome::NotSent => self.not_sent(rate),
            TrialOutcome::Disturbed => self.lost += 1,
        }
        self.planned.retain(|planned| *planned != probe);
    }

    fn not_sent(&mut self, rate: f64) {
        self.lost += 1;
        self.unsent.push(rate);
        if self.unsent.len() >= UNSENT {
            let least = self.unsent.iter().copied().fold(rate, f64::min);
            self.goal.most = self.goal.most.min(BELOW_UNSENT * least).max(self.goal.least);
            self.unsent.clear();
            // What follows from a limit that was too high is planned again.
            self.planned.clear();
        }
    }
}

impl<'a> SearchCapacity<'a> {
    /// The strategy of an experiment with such a search; each load's rate is where its cells' searches begin.
    pub fn new(experiment: &'a Experiment, capacity: &'a Capacity, plan: &'a Plan, judge: Judge<'a>) -> Self {
        let most = capacity.most.map_or(Rate::MAX_PER_SECOND as f64, |most| most.as_per_second());
        let least = LEAST.min(most);
        let goal = Goal { from: least, least, most, precision: capacity.precision, most_trials: MOST_TRIALS };
        SearchCapacity {
            experiment,
            capacity,
            plan,
            order: Order::new(experiment.plan.seed),
            goal,
            judge,
            cells: BTreeMap::new(),
            tried: BTreeMap::new(),
            elapsed: Duration::ZERO,
            compared: 0,
        }
    }

    /// The search of a cell in a new deployment, near what an earlier one found.
    fn begin(&self, cell: CellId) -> CellSearch {
        let load = &self.experiment.load(self.plan.load_of(cell)).load;
        let asked = load.rate().map_or(LEAST, |rate| rate.as_per_second());
        let earlier = self.cells.get(&cell);
        let found = earlier.and_then(|earlier| estimate(&earlier.trials));
        let most = earlier.map_or(self.goal.most, |earlier| earlier.goal.most);
        let from = found.map_or(asked, |found| FROM_EARLIER * found.rate);
        CellSearch::new(Goal { from, most, least: self.goal.least.min(asked), ..self.goal })
    }

    /// Once all searches are over: the cells of each load and its requests at the smallest of their capacities, and in the next block each at
    /// its own.
    fn compare(&mut self, order: &[CellId]) -> Vec<(CellId, Probe)> {
        let purpose = if self.compared.is_multiple_of(2) { Purpose::Common } else { Purpose::Own };
        let found: Vec<(CellId, f64)> =
            order.iter().filter_map(|cell| Some((*cell, carried(self.cells.get(cell)?)?))).collect();
        if found.len() < 2 || self.compared >= 2 * COMPARED {
            return Vec::new();
        }
        self.compared += 1;
        let asked_of = |cell: CellId| {
            let site = self.plan.site_of(cell);
            (self.plan.load_of(cell), &self.experiment.service(site.service).requests)
        };
        let least_of = |asked| {
            let same = found.iter().filter(|(cell, _)| asked_of(*cell) == asked);
            same.map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min)
        };
        let probe = |(cell, own): &(CellId, f64)| {
            let rate = if purpose == Purpose::Common { least_of(asked_of(*cell)) } else { *own };
            (*cell, Probe { rate, slices: 1.0, purpose })
        };
        found.iter().map(probe).collect()
    }

    fn is_time_over(&self) -> bool {
        self.experiment.plan.within.is_some_and(|within| self.elapsed >= within)
    }

    fn turn(&self, at: &BlockContext<'_>, cell: CellId, probe: Probe) -> Turn {
        let planned = self.plan.cell(cell);
        let length_s = self.capacity.slice_s(probe.rate) * probe.slices;
        let visit = Visit {
            site: planned.site,
            load: self.load(planned.load, probe.rate),
            cell,
            seed: self.order.schedule_seed(at.round, at.block, planned.load),
            offset: Duration::ZERO,
            trial: Some(TrialRow { purpose: probe.purpose, slices: probe.slices }),
        };
        Turn { visits: vec![visit], duration: Duration::from_secs_f64(length_s) }
    }

    /// The load with another rate.
    fn load(&self, load: LoadId, rate: f64) -> Load {
        let asked = &self.experiment.load(load).load;
        let arrivals = match asked {
            Load::Open { arrivals, .. } => *arrivals,
            _ => Arrivals::default(),
        };
        // What the search asks for is between the least and the most that a rate may be.
        Rate::per_second(rate).map_or_else(|_| asked.clone(), |rate| Load::Open { rate, arrivals })
    }
}

/// What a cell carries for longer, or if that was not found, less than what it does not.
fn carried(CellSearch { goal, trials, .. }: &CellSearch) -> Option<f64> {
    let (low, long) = (estimate(trials)?.interval[0], Confirmed::of(trials));
    Some(long.carried(low).unwrap_or_else(|| long.next_rate(low, goal.precision)))
}

impl Strategy for SearchCapacity<'_> {
    fn next_round(&mut self, so_far: RoundsSoFar) -> NextRound {
        self.elapsed = so_far.elapsed;
        if so_far.rounds >= self.experiment.plan.deployments {
            return NextRound::Enough;
        }
        if let Some(within) = self.experiment.plan.within.filter(|_| so_far.rounds > 0 && self.is_time_over())
        {
            return NextRound::TimeIsUp { within };
        }
        let cells: Vec<CellId> = self.plan.cell_ids().collect();
        self.cells = cells.into_iter().map(|cell| (cell, self.begin(cell))).collect();
        self.compared = 0;
        NextRound::Deploy(self.order.stages(self.plan, self.experiment.plan.isolation, so_far.rounds))
    }

    fn next_block(&mut self, at: &BlockContext<'_>) -> Option<Vec<Turn>> {
        for (cell, (probe, outcome)) in std::mem::take(&mut self.tried) {
            if let Some(search) = self.cells.get_mut(&cell) {
                search.tried(probe, outcome);
            }
        }
        if self.is_time_over() {
            return None;
        }
        let order = self.order.block(self.plan, at.round, at.block, at.cells, &[], &|_| Duration::ZERO);
        let order = order.into_iter().flatten().map(|(cell, _)| cell);
        let order: Vec<CellId> = order.collect();
        let searching = order.iter().filter_map(|cell| Some((*cell, self.cells.get_mut(cell)?.next()?)));
        let mut probes: Vec<(CellId, Probe)> = searching.collect();
        if probes.is_empty() {
            probes = self.compare(&order);
        }
        // What follows an overload comes immediately after it: the first of this block, after the last of the one before.
        probes.sort_by_key(|(_, probe)| match probe.purpose {
            Purpose::Recover => 0,
            Purpose::Search | Purpose::Confirm | Purpose::Common | Purpose::Own => 1,
            Purpose::Overload => 2,
        });
        let turns: Vec<Turn> = probes.into_iter().map(|(cell, probe)| self.turn(at, cell, probe)).collect();
        (!turns.is_empty()).then_some(turns)
    }

    fn measured(&mut self, slice: &SliceRow) {
        self.elapsed = self.elapsed.max(Duration::from_secs_f64(slice.at_s + slice.duration_s));
        let (Some(trial), Some(rate)) = (slice.trial, slice.load.rate()) else { return };
        let probe = Probe { rate: rate.as_per_second(), slices: trial.slices, purpose: trial.purpose };
        // A later attempt at a disturbed block stands for the earlier one.
        let Some(search) = self.cells.get_mut(&slice.cell) else { return };
        self.tried.insert(slice.cell, (probe, (self.judge)(slice, &mut search.patience)));
    }
}
