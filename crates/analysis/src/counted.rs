//! Which slices count: those of comparisons for which the machine was quiet, as long as enough of them are.

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

/// Chooses the slices that count: of each block of a load the first attempt in which every slice was quiet. Of a block without one, those cells
/// count whose whole comparison was quiet in one of its attempts: a comparison needs its own two cells and the twin, however many others there
/// are. Whether a slice was quiet follows from what the machine did alone, and the cells of a comparison count together or not at all. In a
/// deployment with hardly any quiet blocks a comparison does not count either. On a machine that is too loud for that, for one of the load's
/// comparisons, all blocks of the load count: see [`all_blocks`]. So they do on a ladder, whose estimates cut off what the machine does to a few
/// slices, in a search, and where runs are compared, whose blocks have nothing in common.
///
/// An attempt that lacks a cell of the first one never counts: the run ended in it, or it is of a version that repeated single slices.
pub fn counted<'a>(run: &RunRow, slices: &'a [SliceRow]) -> Counted<'a> {
    let blocks = attempts(&run.plan, slices);
    let quiet = if wants_quiet(run) { quiet_blocks(&run.plan, &blocks) } else { BTreeMap::new() };
    let mut counted: Counted<'a> = BTreeMap::new();
    for ((load, place), attempts) in &blocks {
        let of_block = match quiet.get(load) {
            Some(of_load) => of_load.get(place).cloned().unwrap_or_default(),
            None => best(attempts).cloned().unwrap_or_default(),
        };
        for slice in of_block {
            counted.entry(slice.cell).or_default().insert(*place, slice);
        }
    }
    counted
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

/// The slices of each place that count, of the loads that were quiet enough.
type QuietBlocks<'a> = BTreeMap<LoadId, BTreeMap<Place, Vec<&'a SliceRow>>>;

fn quiet_blocks<'a>(plan: &Plan, blocks: &BTreeMap<(LoadId, Place), Attempts<'a>>) -> QuietBlocks<'a> {
    let loads: BTreeSet<LoadId> = blocks.keys().map(|(load, _)| *load).collect();
    let of_load = |load: LoadId| {
        let of_load = blocks.range((load, (0, 0))..=(load, (u32::MAX, u32::MAX)));
        let comparisons = comparisons(plan, load);
        let places: Vec<(Place, Quietest<'a>)> = of_load
            .filter_map(|((_, place), attempts)| Some((*place, quietest(attempts, &comparisons)?)))
            .collect();
        let mut counting: BTreeMap<Place, BTreeSet<CellId>> = BTreeMap::new();
        for (at, comparison) in comparisons.iter().enumerate() {
            for place in counting_places(places.iter().map(|(place, found)| (*place, found.comparisons[at])))?
            {
                counting.entry(place).or_default().extend(&comparison.cells);
            }
        }
        let slices = places.into_iter().filter_map(|(place, found)| {
            let cells = counting.get(&place)?;
            Some((place, found.slices.into_iter().filter(|slice| cells.contains(&slice.cell)).collect()))
        });
        Some((load, slices.collect()))
    };
    loads.into_iter().filter_map(of_load).collect()
}

/// Cells that are compared, and so count together: two cells, and their twin.
struct Comparison {
    cells: Vec<CellId>,
}

impl Comparison {
    /// Whether all of its slices were quiet; `None` without any. What could not be measured is no reason to leave out what it was compared with.
    fn was_quiet(&self, slices: &[&SliceRow]) -> Option<bool> {
        let mut own = slices.iter().filter(|slice| self.cells.contains(&slice.cell)).peekable();
        own.peek()?;
        Some(own.all(|slice| slice.is_quiet()))
    }
}

/// The comparisons of a load: each candidate with its baseline, or a twin with a baseline that has no candidate, and each cell that is compared
/// with nothing.
fn comparisons(plan: &Plan, load: LoadId) -> Vec<Comparison> {
    let has_candidate = |cell: CellId| plan.planned_contrasts().any(|planned| planned.baseline == cell);
    let alone = plan.noise_contrasts().filter(|noise| !has_candidate(noise.baseline));
    let contrasts =
        plan.planned_contrasts().chain(alone).filter(|contrast| plan.load_of(contrast.candidate) == load);
    let mut comparisons: Vec<Comparison> = contrasts
        .map(|contrast| Comparison {
            cells: [contrast.baseline, contrast.candidate]
                .into_iter()
                .chain(plan.twin_of(contrast.baseline))
                .collect(),
        })
        .collect();
    let compared: BTreeSet<CellId> = comparisons.iter().flat_map(|each| each.cells.iter().copied()).collect();
    let others = plan.cell_ids().filter(|cell| plan.load_of(*cell) == load && !compared.contains(cell));
    comparisons.extend(others.map(|cell| Comparison { cells: vec![cell] }));
    comparisons
}

/// The attempt at a block in which most comparisons were quiet, the first one of several.
struct Quietest<'a> {
    slices: Vec<&'a SliceRow>,
    /// Whether each was quiet, where it was measured.
    comparisons: Vec<Option<bool>>,
}

fn quietest<'a>(attempts: &Attempts<'a>, comparisons: &[Comparison]) -> Option<Quietest<'a>> {
    let seen = whole(attempts).map(|slices| Quietest {
        slices: slices.clone(),
        comparisons: comparisons.iter().map(|comparison| comparison.was_quiet(slices)).collect(),
    });
    let quiet = |found: &Quietest<'_>| found.comparisons.iter().filter(|quiet| **quiet == Some(true)).count();
    seen.rev().max_by_key(quiet)
}

/// The places at which a comparison counts: those at which it was quiet, without the deployments that have hardly any. `None` if too few are left
/// for the others not to count.
fn counting_places(measured: impl Iterator<Item = (Place, Option<bool>)>) -> Option<Vec<Place>> {
    let mut deployments: BTreeMap<u32, OfDeployment> = BTreeMap::new();
    for (place, quiet) in measured {
        let Some(quiet) = quiet else { continue };
        let of_deployment = deployments.entry(place.0).or_default();
        of_deployment.blocks += 1;
        if quiet {
            of_deployment.quiet.push(place);
        }
    }
    let counting: Vec<&OfDeployment> = deployments.values().filter(|each| each.is_quiet_enough()).collect();
    let quiet: Vec<Place> = counting.iter().flat_map(|each| each.quiet.iter().copied()).collect();
    let all: usize = deployments.values().map(|each| each.blocks).sum();
    let is_quiet_enough = quiet.len() as f64 >= LEAST_QUIET * all as f64
        && counting.len() as f64 >= LEAST_DEPLOYMENTS * deployments.len() as f64;
    is_quiet_enough.then_some(quiet)
}

/// The blocks of a comparison in a deployment.
#[derive(Default)]
struct OfDeployment {
    quiet: Vec<Place>,
    blocks: usize,
}

impl OfDeployment {
    fn is_quiet_enough(&self) -> bool {
        self.quiet.len() >= LEAST_OF_DEPLOYMENT.min(self.blocks.div_ceil(4))
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
