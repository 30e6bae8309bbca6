//! Which slices count: those of comparisons for which the machine was quiet, as long as enough of them are.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::notes::Note;
use loadline_model::plan::{ContrastPlan, Plan};
use loadline_model::rows::{RunRow, SliceRow};
use loadline_model::{CellId, LoadId};

/// A block: its round and number.
pub type BlockAt = (u32, u32);

/// Where a slice stands: round, block and attempt. The attempt is 0 where only one of them can count, so that blocks of several loads match.
pub type Place = (u32, u32, u32);

/// The slices that count, by cell and place.
pub type Counted<'a> = BTreeMap<CellId, BTreeMap<Place, &'a SliceRow>>;

/// The slices of a block that have the same load, by attempt. They are compared with each other, so they count together or not at all.
pub type Attempts<'a> = BTreeMap<u32, Vec<&'a SliceRow>>;

/// The attempts at each block of each load.
pub fn attempts<'a>(plan: &Plan, slices: &'a [SliceRow]) -> BTreeMap<(LoadId, BlockAt), Attempts<'a>> {
    let mut blocks: BTreeMap<(LoadId, BlockAt), Attempts<'a>> = BTreeMap::new();
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

/// Chooses the slices that count: of each attempt at a block those of the comparisons that were quiet in it. A comparison needs its own two
/// cells and the twin, however many others there are, and its cells count together or not at all. Whether a slice was quiet follows from what the
/// machine did alone, and a block is measured again until it disturbed none of its slices. In a deployment with hardly any quiet blocks a comparison does
/// not count either. On a machine that is too loud for that, for one of the load's comparisons, all blocks of the load count: see
/// [`all_blocks`]. So they do in a search, and where runs are compared, whose blocks have nothing in common.
///
/// On a ladder, whose costs add up over all of its cells, blocks count as a whole, and its estimates cut off what the machine does to a few slices.
/// What it does to most of a deployment they don't: such deployments do not count.
///
/// An attempt that lacks a cell of the first one never counts: the run ended in it, or it is of a version that repeated single slices.
pub fn counted<'a>(run: &RunRow, slices: &'a [SliceRow]) -> Counted<'a> {
    let mut blocks = attempts(&run.plan, slices);
    if run.experiment.is_ladder() {
        let loud = loud_deployments(slices);
        blocks.retain(|(_, (round, _)), _| !loud.contains(round));
    }
    let mut quiet = if wants_quiet(run) { quiet_slices(&run.plan, &blocks) } else { BTreeMap::new() };
    let others = blocks.iter().filter(|((load, _), _)| !quiet.contains_key(load));
    let mut counted = collect(others.filter_map(|((_, block), attempts)| Some((*block, best(attempts)?))));
    for (place, slice) in quiet.values_mut().flat_map(std::mem::take) {
        counted.entry(slice.cell).or_default().insert(place, slice);
    }
    counted
}

/// The deployments in which the machine left fewer than a third of all slices alone; none if too few would be left.
fn loud_deployments(slices: &[SliceRow]) -> BTreeSet<u32> {
    let mut deployments: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
    for slice in slices {
        deployments.entry(slice.round).or_default()[usize::from(slice.is_quiet())] += 1;
    }
    let loud = deployments.iter().filter(|(_, [loud, quiet])| *loud > 2 * quiet);
    let loud: BTreeSet<u32> = loud.map(|(round, _)| *round).collect();
    let left = deployments.len() - loud.len();
    if left as f64 >= LEAST_DEPLOYMENTS * deployments.len() as f64 { loud } else { BTreeSet::new() }
}

/// Of each block the best attempt. For what is made of several
/// loads, of which each would leave out other blocks.
pub fn all_blocks<'a>(plan: &Plan, slices: &'a [SliceRow]) -> Counted<'a> {
    let blocks = attempts(plan, slices);
    collect(blocks.iter().filter_map(|((_, block), attempts)| Some((*block, best(attempts)?))))
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
    collect(blocks.iter().filter_map(|((_, block), attempts)| Some((*block, attempts.values().next()?))))
}

fn collect<'a: 'b, 'b>(chosen: impl Iterator<Item = (BlockAt, &'b Vec<&'a SliceRow>)>) -> Counted<'a> {
    let mut counted: Counted<'a> = BTreeMap::new();
    for ((round, block), slices) in chosen {
        for slice in slices {
            counted.entry(slice.cell).or_default().insert((round, block, 0), slice);
        }
    }
    counted
}

/// The slices that count of the loads that were quiet enough.
fn quiet_slices<'a>(
    plan: &Plan,
    blocks: &BTreeMap<(LoadId, BlockAt), Attempts<'a>>,
) -> BTreeMap<LoadId, Vec<(Place, &'a SliceRow)>> {
    let loads: BTreeSet<LoadId> = blocks.keys().map(|(load, _)| *load).collect();
    let of_load = |load: LoadId| {
        let of_load = blocks.range((load, (0, 0))..=(load, (u32::MAX, u32::MAX)));
        let of_load: BTreeMap<BlockAt, &Attempts<'a>> =
            of_load.map(|((_, block), attempts)| (*block, attempts)).collect();
        let slices = || of_load.values().flat_map(|attempts| attempts.values()).flatten();
        let measured: BTreeSet<CellId> = slices().map(|slice| slice.cell).collect();
        let mut counting: BTreeSet<(Place, CellId)> = BTreeSet::new();
        for comparison in comparisons(plan, load, &measured) {
            for place in quiet_places(&of_load, &comparison)? {
                counting.extend(comparison.all().map(|cell| (place, cell)));
            }
        }
        let place = |slice: &SliceRow| (slice.round, slice.block, slice.attempt);
        let counts = |slice: &&&'a SliceRow| counting.contains(&(place(slice), slice.cell));
        Some((load, slices().filter(counts).map(|slice| (place(slice), *slice)).collect()))
    };
    loads.into_iter().filter_map(of_load).collect()
}

/// Cells that are compared, and so count together.
struct Comparison {
    cells: Vec<CellId>,
    /// Is left out where it was given up.
    twin: Option<CellId>,
}

impl Comparison {
    fn all(&self) -> impl Iterator<Item = CellId> {
        self.cells.iter().copied().chain(self.twin)
    }

    /// Whether all of its slices were quiet; `None` if one of its cells was not measured.
    fn was_quiet(&self, slices: &[&SliceRow]) -> Option<bool> {
        let quiet =
            |cell: &CellId| slices.iter().find(|slice| slice.cell == *cell).map(|slice| slice.is_quiet());
        let all: Option<Vec<bool>> = self.cells.iter().map(quiet).collect();
        let twin = self.twin.as_ref().and_then(quiet).unwrap_or(true);
        Some(all?.into_iter().all(|quiet| quiet) && twin)
    }
}

/// The comparisons of a load: each candidate with its baseline, or a twin with a baseline that has no candidate, and each cell that is compared
/// with nothing. What could not be measured at all is no reason to leave out what it was to be compared with.
fn comparisons(plan: &Plan, load: LoadId, measured: &BTreeSet<CellId>) -> Vec<Comparison> {
    let has_candidate = |cell: CellId| plan.planned_contrasts().any(|planned| planned.baseline == cell);
    let alone = plan.noise_contrasts().filter(|noise| !has_candidate(noise.baseline));
    let contrasts =
        plan.planned_contrasts().chain(alone).filter(|contrast| plan.load_of(contrast.candidate) == load);
    let of_contrast = |contrast: &ContrastPlan| {
        let both = [contrast.baseline, contrast.candidate].into_iter();
        Comparison {
            cells: both.filter(|cell| measured.contains(cell)).collect(),
            twin: plan.twin_of(contrast.baseline).filter(|twin| *twin != contrast.candidate),
        }
    };
    let mut comparisons: Vec<Comparison> =
        contrasts.map(of_contrast).filter(|comparison| !comparison.cells.is_empty()).collect();
    let compared: BTreeSet<CellId> = comparisons.iter().flat_map(Comparison::all).collect();
    let others = plan.cell_ids().filter(|cell| plan.load_of(*cell) == load && !compared.contains(cell));
    comparisons.extend(others.map(|cell| Comparison { cells: vec![cell], twin: None }));
    comparisons
}

/// The attempts in which a comparison was quiet, without the deployments that have hardly any. `None` if too few blocks are left for the others
/// not to count.
fn quiet_places(blocks: &BTreeMap<BlockAt, &Attempts<'_>>, comparison: &Comparison) -> Option<Vec<Place>> {
    let mut deployments: BTreeMap<u32, OfDeployment> = BTreeMap::new();
    for ((round, block), attempts) in blocks {
        let was_quiet =
            |(attempt, slices): (u32, &Vec<&SliceRow>)| Some((attempt, comparison.was_quiet(slices)?));
        let measured: Vec<(u32, bool)> =
            until_undisturbed(attempts).into_iter().filter_map(was_quiet).collect();
        if measured.is_empty() {
            continue;
        }
        let quiet = measured.into_iter().filter(|(_, quiet)| *quiet);
        let quiet: Vec<Place> = quiet.map(|(attempt, _)| (*round, *block, attempt)).collect();
        let of_deployment = deployments.entry(*round).or_default();
        of_deployment.blocks += 1;
        of_deployment.quiet_blocks += usize::from(!quiet.is_empty());
        of_deployment.quiet.extend(quiet);
    }
    let counting: Vec<&OfDeployment> = deployments.values().filter(|each| each.is_quiet_enough()).collect();
    let quiet_blocks: usize = counting.iter().map(|each| each.quiet_blocks).sum();
    let all: usize = deployments.values().map(|each| each.blocks).sum();
    let is_quiet_enough = quiet_blocks as f64 >= LEAST_QUIET * all as f64
        && counting.len() as f64 >= LEAST_DEPLOYMENTS * deployments.len() as f64;
    is_quiet_enough.then(|| counting.into_iter().flat_map(|each| each.quiet.iter().copied()).collect())
}

/// What a comparison has of a deployment.
#[derive(Default)]
struct OfDeployment {
    /// The attempts in which it was quiet.
    quiet: Vec<Place>,
    /// The blocks that have such an attempt.
    quiet_blocks: usize,
    /// Those in which it was measured.
    blocks: usize,
}

impl OfDeployment {
    fn is_quiet_enough(&self) -> bool {
        self.quiet_blocks >= LEAST_OF_DEPLOYMENT.min(self.blocks.div_ceil(4))
    }
}

/// The attempts that have all cells of the first one.
fn whole<'a, 'b>(
    attempts: &'b Attempts<'a>,
) -> impl DoubleEndedIterator<Item = (u32, &'b Vec<&'a SliceRow>)> {
    let cells = attempts.values().next().map_or(0, Vec::len);
    attempts
        .iter()
        .filter(move |(_, slices)| slices.len() >= cells)
        .map(|(attempt, slices)| (*attempt, slices))
}

/// The attempts up to the first that the machine did not disturb: a version that repeated what the service had done made more.
fn until_undisturbed<'a, 'b>(attempts: &'b Attempts<'a>) -> Vec<(u32, &'b Vec<&'a SliceRow>)> {
    let mut seen = Vec::new();
    for (attempt, slices) in whole(attempts) {
        seen.push((attempt, slices));
        if is_undisturbed(slices) {
            break;
        }
    }
    seen
}

/// The first attempt that the machine did not disturb, or else the last one.
fn best<'a, 'b>(attempts: &'b Attempts<'a>) -> Option<&'b Vec<&'a SliceRow>> {
    let whole = || whole(attempts).map(|(_, slices)| slices);
    whole().find(|slices| is_undisturbed(slices)).or_else(|| whole().next_back())
}

fn is_undisturbed(slices: &[&SliceRow]) -> bool {
    !slices.iter().any(|slice| slice.is_disturbed())
}
