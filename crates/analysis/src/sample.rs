//! Which slices count, and the paired sample of two cells that a contrast is computed from.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::CellId;
use loadline_model::plan::Role;
use loadline_model::rows::SliceRow;
use loadline_stats::Unit;

use crate::RunData;

/// Where a slice stands: round and block.
pub type Place = (u32, u32);

/// The slices that count, by cell and place: the first attempt that passed every gate, else the last one made.
pub type Counted<'a> = BTreeMap<CellId, BTreeMap<Place, &'a SliceRow>>;

/// Chooses the slices that count.
pub fn counted(slices: &[SliceRow]) -> Counted<'_> {
    let mut counted: Counted<'_> = BTreeMap::new();
    for slice in slices {
        let cell = counted.entry(slice.cell).or_default();
        let place = (slice.round, slice.block);
        let replaces = match cell.get(&place) {
            None => true,
            Some(earlier) => !earlier.gate_failures.is_empty() && earlier.attempt < slice.attempt,
        };
        if replaces {
            cell.insert(place, slice);
        }
    }
    counted
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

/// The unit of resampling with its slices of one cell, or of two paired ones.
pub struct Paired<'a> {
    /// Each unit's pairs, baseline first, in the order of measurement.
    pub units: Vec<Vec<(&'a SliceRow, &'a SliceRow)>>,
}

impl<'a> Paired<'a> {
    /// Pairs the slices of two cells block by block; what only one of them has is left out.
    pub fn new(counted: &Counted<'a>, baseline: CellId, candidate: CellId) -> Paired<'a> {
        let pair = |slices: Vec<&'a SliceRow>| (slices[0], slices[1]);
        let units = units(counted, &[baseline, candidate]);
        Paired { units: units.into_iter().map(|unit| unit.into_iter().map(pair).collect()).collect() }
    }

    /// How many pairs there are.
    pub fn blocks(&self) -> usize {
        self.units.iter().map(Vec::len).sum()
    }

    /// All pairs in the order of measurement.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a SliceRow, &'a SliceRow)> {
        self.units.iter().flatten().copied()
    }
}
