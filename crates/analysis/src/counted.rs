//! Which slices count: those of blocks in which the machine was quiet, as long as enough of them are.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::notes::Note;
use loadline_model::plan::Plan;
use loadline_model::rows::{RunRow, SliceRow};
use loadline_model::{CellId, LoadId};

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
