//! Which slices count, and the paired sample of two cells that a contrast is computed from.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use loadline_model::notes::Note;
use loadline_model::plan::{Plan, Role};
use loadline_model::rows::{RunRow, SliceRow};
use loadline_model::{CellId, LoadId};
use loadline_stats::Unit;

use crate::RunData;
use crate::buckets::Cumulative;
use crate::times::Times;

/// Where a slice stands: round and block.
pub type Place = (u32, u32);

/// The slices that count, by cell and place.
pub type Counted<'a> = BTreeMap<CellId, BTreeMap<Place, &'a SliceRow>>;

/// The slices of a block that have the same load, by attempt. They are compared with each other, so they count together or not at all.
pub type Attempts<'a> = BTreeMap<u32, Vec<&'a SliceRow>>;

/// The attempts at each block of each load.
pub fn attempts<'a>(plan: &Plan, slices: &'a [SliceRow]) -> BTreeMap<(LoadId, Place), Attempts<'a>> {
    let mut blocks: BTreeMap<(LoadId, Place), Attempts<'a>> = BTreeMap::new();
    for slice in slices {
        let block = blocks.entry((plan.load_of(slice.cell), (slice.round, slice.block))).or_default();
        block.entry(slice.attempt).or_default().push(slice);
    }
    blocks
}

/// Share of a load's blocks that must have been quiet for the others not to count. Means of quiet slices vary so much less that a third of them
/// say more than all.
const LEAST_QUIET: f64 = 1.0 / 3.0;
/// A deployment counts only with so many quiet blocks, or with a quarter of its blocks if it has few.
const LEAST_OF_DEPLOYMENT: usize = 3;
/// Share of the deployments that must have so many for the others not to count.
const LEAST_DEPLOYMENTS: f64 = 0.75;

/// Chooses the slices that count: of each block of a load the first attempt in which every slice was quiet, and none of a block without one.
/// Whether a slice was quiet follows from what the machine did alone, and all cells of a block count or none, so that no cell is selected by its
/// own slices. A deployment with hardly any quiet blocks does not count either. On a machine that is too loud for that all blocks count: see
/// [`all_blocks`]. So they do on a ladder, whose estimates cut off what the machine does to a few slices, in a search, and where two runs are
/// compared, whose blocks have nothing in common.
///
/// An attempt that lacks a cell of the first one never counts: the run ended in it, or it is of a version that repeated single slices.
pub fn counted<'a>(run: &RunRow, slices: &'a [SliceRow]) -> Counted<'a> {
    let blocks = attempts(&run.plan, slices);
    let loud = if wants_quiet(run) { left_out(&blocks) } else { BTreeSet::new() };
    let counting = blocks.iter().filter(|(block, _)| !loud.contains(block));
    collect(counting.filter_map(|((_, place), attempts)| Some((*place, best(attempts)?))))
}

/// Of each block the best attempt: the first that was quiet, or in which no slice was disturbed, or else the last one. For what is made of several
/// loads, of which each would leave out other blocks.
pub fn all_blocks<'a>(plan: &Plan, slices: &'a [SliceRow]) -> Counted<'a> {
    let blocks = attempts(plan, slices);
    collect(blocks.iter().filter_map(|((_, place), attempts)| Some((*place, best(attempts)?))))
}

/// Whether blocks without a quiet attempt may not count.
fn wants_quiet(run: &RunRow) -> bool {
    let is_joined = run.notes.iter().any(|note| matches!(note, Note::NotInterleaved { .. }));
    !run.experiment.is_ladder() && run.experiment.capacity.is_none() && !is_joined
}

/// Whether a slice may be why its block was measured again, or does not count.
pub fn is_loud(run: &RunRow, slice: &SliceRow) -> bool {
    if wants_quiet(run) { !slice.is_quiet() } else { slice.is_disturbed() }
}

/// What would count if nothing had been repeated or left out: every first attempt.
pub fn first_attempts<'a>(plan: &Plan, slices: &'a [SliceRow]) -> Counted<'a> {
    let blocks = attempts(plan, slices);
    collect(blocks.iter().filter_map(|((_, place), attempts)| Some((*place, attempts.values().next()?))))
}

fn collect<'a: 'b, 'b>(chosen: impl Iterator<Item = (Place, &'b Vec<&'a SliceRow>)>) -> Counted<'a> {
    let mut counted: Counted<'a> = BTreeMap::new();
    for (place, slices) in chosen {
        for slice in slices {
            counted.entry(slice.cell).or_default().insert(place, slice);
        }
    }
    counted
}

/// The blocks that do not count.
fn left_out(blocks: &BTreeMap<(LoadId, Place), Attempts<'_>>) -> BTreeSet<(LoadId, Place)> {
    let mut deployments: BTreeMap<(LoadId, u32), OfDeployment> = BTreeMap::new();
    for ((load, place), attempts) in blocks {
        let of_deployment = deployments.entry((*load, place.0)).or_default();
        match quiet(attempts) {
            Some(_) => of_deployment.quiet.push(*place),
            None => of_deployment.loud.push(*place),
        }
    }
    let loads: BTreeSet<LoadId> = deployments.keys().map(|(load, _)| *load).collect();
    let of_load = |load: LoadId| {
        let (counting, others): (Vec<&OfDeployment>, Vec<&OfDeployment>) = deployments
            .iter()
            .filter(|((of, _), _)| *of == load)
            .map(|(_, of_deployment)| of_deployment)
            .partition(|of_deployment| of_deployment.is_quiet_enough());
        let quiet: usize = counting.iter().map(|each| each.quiet.len()).sum();
        let all: usize = counting.iter().chain(&others).map(|each| each.blocks()).sum();
        let is_quiet_enough = quiet as f64 >= LEAST_QUIET * all as f64
            && counting.len() as f64 >= LEAST_DEPLOYMENTS * (counting.len() + others.len()) as f64;
        let loud = counting.iter().flat_map(|each| &each.loud);
        let whole = others.iter().flat_map(|each| each.loud.iter().chain(&each.quiet));
        let left_out: Vec<Place> = loud.chain(whole).copied().collect();
        if is_quiet_enough { left_out } else { Vec::new() }
    };
    loads.into_iter().flat_map(|load| of_load(load).into_iter().map(move |place| (load, place))).collect()
}

/// The blocks of a load in a deployment.
#[derive(Default)]
struct OfDeployment {
    quiet: Vec<Place>,
    loud: Vec<Place>,
}

impl OfDeployment {
    fn blocks(&self) -> usize {
        self.quiet.len() + self.loud.len()
    }

    fn is_quiet_enough(&self) -> bool {
        self.quiet.len() >= LEAST_OF_DEPLOYMENT.min(self.blocks().div_ceil(4))
    }
}

/// The attempts that have all cells of the first one.
fn whole<'a, 'b>(attempts: &'b Attempts<'a>) -> impl DoubleEndedIterator<Item = &'b Vec<&'a SliceRow>> {
    let cells = attempts.values().next().map_or(0, Vec::len);
    attempts.values().filter(move |slices| slices.len() >= cells)
}

fn quiet<'a, 'b>(attempts: &'b Attempts<'a>) -> Option<&'b Vec<&'a SliceRow>> {
    whole(attempts).find(|slices| slices.iter().all(|slice| slice.is_quiet()))
}

fn best<'a, 'b>(attempts: &'b Attempts<'a>) -> Option<&'b Vec<&'a SliceRow>> {
    let undisturbed = || whole(attempts).find(|slices| !slices.iter().any(|slice| slice.is_disturbed()));
    quiet(attempts).or_else(undisturbed).or_else(|| whole(attempts).next_back())
}

/// Blocks in which a cell was measured that is compared with no other.
pub fn blocks(data: &RunData, counted: &Counted<'_>) -> u32 {
    places(data, counted).len() as u32
}

/// Rounds of deployments in which a cell was measured that is compared with no other.
pub fn rounds(data: &RunData, counted: &Counted<'_>) -> u32 {
    places(data, counted).iter().map(|(round, _)| round).collect::<BTreeSet<_>>().len() as u32
}

fn places(data: &RunData, counted: &Counted<'_>) -> BTreeSet<Place> {
    let plan = &data.run.plan;
    let bases = plan.cells_as(Role::Baseline).chain(plan.cells_as(Role::Uncompared));
    bases.filter_map(|(cell, _)| counted.get(&cell)).flat_map(|slices| slices.keys().copied()).collect()
}

/// The slices of several cells, block by block and grouped by the unit of resampling: units, their blocks, each cell's slice. A block
/// that one of the cells lacks is left out.
pub fn units<'a>(counted: &Counted<'a>, cells: &[CellId]) -> Vec<Vec<Vec<&'a SliceRow>>> {
    let empty = BTreeMap::new();
    let of_cells: Vec<&BTreeMap<Place, &SliceRow>> =
        cells.iter().map(|cell| counted.get(cell).unwrap_or(&empty)).collect();
    let Some((first, others)) = of_cells.split_first() else { return Vec::new() };
    let blocks: Vec<(Place, Vec<&SliceRow>)> = first
        .iter()
        .filter_map(|(place, slice)| {
            let rest: Option<Vec<&SliceRow>> = others.iter().map(|cell| cell.get(place).copied()).collect();
            Some((*place, [vec![*slice], rest?].concat()))
        })
        .collect();
    let rounds: BTreeSet<u32> = blocks.iter().map(|((round, _), _)| *round).collect();
    let of_round = |round: &u32| {
        blocks.iter().filter(|(place, _)| place.0 == *round).map(|(_, slices)| slices.clone()).collect()
    };
    match Unit::highest_replicated(rounds.len()) {
        Unit::Deployment => rounds.iter().map(of_round).collect(),
        Unit::Block => blocks.into_iter().map(|(_, slices)| vec![slices]).collect(),
    }
}

/// Share of the compared blocks that a twin must have been measured in to be pooled; the others are then left out. A twin that failed early in
/// the run is not worth losing what came after it.
const POOLED_FROM: f64 = 0.9;

/// What a comparison has of one block.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    /// The baseline's slice.
    pub baseline: &'a SliceRow,
    /// The slice of the baseline's twin, if that is pooled.
    pub twin: Option<&'a SliceRow>,
    /// The candidate's slice.
    pub candidate: &'a SliceRow,
}

impl<'a> Block<'a> {
    /// One side's slice.
    pub fn slice(&self, side: Side) -> Option<&'a SliceRow> {
        match side {
            Side::Baseline => Some(self.baseline),
            Side::Twin => self.twin,
            Side::Candidate => Some(self.candidate),
        }
    }
}

/// A cell of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// What is compared with.
    Baseline,
    /// Its second deployment.
    Twin,
    /// What is compared.
    Candidate,
}

/// The blocks of a comparison by the unit of resampling, in the order of measurement.
pub struct Paired<'a> {
    /// Each unit's blocks.
    pub units: Vec<Vec<Block<'a>>>,
    /// The baseline's twin, where it is pooled.
    pub twin: Option<CellId>,
    /// By times and side: several quantiles are of the same requests, and adding up their histograms takes longer than all else.
    requests: RefCell<BTreeMap<(Side, Times), Rc<Cumulative>>>,
}

impl<'a> Paired<'a> {
    /// Pairs the slices of two cells block by block; what only one of them has is left out. The twin is pooled where it was measured in all
    /// deployments and all but a few blocks.
    pub fn new(
        counted: &Counted<'a>,
        baseline: CellId,
        candidate: CellId,
        twin: Option<CellId>,
    ) -> Paired<'a> {
        let two = units(counted, &[baseline, candidate]);
        let blocks = |units: &[Vec<Vec<&SliceRow>>]| units.iter().map(Vec::len).sum::<usize>() as f64;
        let three = twin.map(|twin| units(counted, &[baseline, candidate, twin])).filter(|three| {
            three.len() == two.len() && blocks(three) > 0.0 && blocks(three) >= POOLED_FROM * blocks(&two)
        });
        let twin = twin.filter(|_| three.is_some());
        let block = |slices: Vec<&'a SliceRow>| Block {
            baseline: slices[0],
            candidate: slices[1],
            twin: slices.get(2).copied(),
        };
        let units = three.unwrap_or(two).into_iter();
        let units = units.map(|unit| unit.into_iter().map(block).collect()).collect();
        Paired { units, twin, requests: Default::default() }
    }

    /// The requests of one side by bucket.
    pub fn requests(&self, side: Side, times: Times) -> Rc<Cumulative> {
        let of_side = || Rc::new(Cumulative::new(times, self.slices(side)));
        self.requests.borrow_mut().entry((side, times)).or_insert_with(of_side).clone()
    }

    /// The slices of one side, unit by unit.
    pub fn slices(&self, side: Side) -> impl Iterator<Item = Vec<&'a SliceRow>> {
        self.units.iter().map(move |unit| unit.iter().filter_map(|block| block.slice(side)).collect())
    }

    /// The slices of all sides.
    pub fn all_slices(&self) -> impl Iterator<Item = &'a SliceRow> {
        self.blocks().flat_map(|block| [Some(block.baseline), block.twin, Some(block.candidate)]).flatten()
    }

    /// How many blocks there are.
    pub fn count(&self) -> usize {
        self.units.iter().map(Vec::len).sum()
    }

    /// All blocks in the order of measurement.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> {
        self.units.iter().flatten().copied()
    }

    /// How many deployments the blocks are from.
    pub fn deployments(&self) -> usize {
        self.blocks().map(|block| block.baseline.round).collect::<BTreeSet<_>>().len()
    }
}
