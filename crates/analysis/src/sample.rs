//! Which slices count, and the paired sample of two cells that a contrast is computed from.

use std::collections::{BTreeMap, BTreeSet};

use loadline_experiment::plan::Role;
use loadline_experiment::store::SliceRow;
use loadline_stats::Unit;

use crate::RunData;

/// Where a slice stands: round and block.
pub type Place = (u32, u32);

/// The slices that count, by cell and place: the first attempt that passed every gate, else the last one made.
pub type Counted<'a> = BTreeMap<usize, BTreeMap<Place, &'a SliceRow>>;

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

/// Blocks in which a baseline was measured.
pub fn blocks(data: &RunData, counted: &Counted<'_>) -> u32 {
    places(data, counted).len() as u32
}

/// Rounds of deployments in which a baseline was measured.
pub fn rounds(data: &RunData, counted: &Counted<'_>) -> u32 {
    places(data, counted).iter().map(|(round, _)| round).collect::<BTreeSet<_>>().len() as u32
}

fn places(data: &RunData, counted: &Counted<'_>) -> BTreeSet<Place> {
    let baselines = data.run.plan.cells.iter().enumerate().filter(|(_, cell)| cell.role == Role::Baseline);
    baselines.filter_map(|(cell, _)| counted.get(&cell)).flat_map(|slices| slices.keys().copied()).collect()
}

/// The unit of resampling with its slices of one cell, or of two paired ones.
pub struct Paired<'a> {
    /// Each unit's pairs, baseline first, in the order of measurement.
    pub units: Vec<Vec<(&'a SliceRow, &'a SliceRow)>>,
}

impl<'a> Paired<'a> {
    /// Pairs the slices of two cells block by block; what only one of them has is left out.
    pub fn new(counted: &Counted<'a>, baseline: usize, candidate: usize) -> Paired<'a> {
        let empty = BTreeMap::new();
        let (baseline, candidate) =
            (counted.get(&baseline).unwrap_or(&empty), counted.get(&candidate).unwrap_or(&empty));
        let pairs: Vec<(Place, (&SliceRow, &SliceRow))> = baseline
            .iter()
            .filter_map(|(place, slice)| Some((*place, (*slice, *candidate.get(place)?))))
            .collect();
        let rounds: BTreeSet<u32> = pairs.iter().map(|((round, _), _)| *round).collect();
        let units = match Unit::highest_replicated(rounds.len()) {
            Unit::Deployment => rounds
                .iter()
                .map(|round| {
                    pairs.iter().filter(|(place, _)| place.0 == *round).map(|(_, pair)| *pair).collect()
                })
                .collect(),
            Unit::Block => pairs.iter().map(|(_, pair)| vec![*pair]).collect(),
        };
        Paired { units }
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
