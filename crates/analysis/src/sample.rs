//! The paired sample of two cells that a contrast is computed from.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use loadline_model::CellId;
use loadline_model::plan::Role;
use loadline_model::rows::SliceRow;
use loadline_stats::Unit;

use crate::RunData;
use crate::buckets::Cumulative;
use crate::counted::{BlockAt, Counted, Place};
use crate::metrics::{Kind, Metric};
use crate::times::Times;

/// Blocks that count for a cell that is compared with no other.
pub fn blocks(data: &RunData, counted: &Counted<'_>) -> u32 {
    let blocks = places(data, counted).into_iter().map(|(round, block, _)| (round, block));
    blocks.collect::<BTreeSet<BlockAt>>().len() as u32
}

/// Rounds of deployments in which a cell was measured that is compared with no other.
pub fn rounds(data: &RunData, counted: &Counted<'_>) -> u32 {
    places(data, counted).iter().map(|(round, ..)| round).collect::<BTreeSet<_>>().len() as u32
}

fn places(data: &RunData, counted: &Counted<'_>) -> BTreeSet<Place> {
    let plan = &data.run.plan;
    let bases = plan.cells_as(Role::Baseline).chain(plan.cells_as(Role::Uncompared));
    bases.filter_map(|(cell, _)| counted.get(&cell)).flat_map(|slices| slices.keys().copied()).collect()
}

/// The slices of several cells, block by block and grouped by the unit of resampling: units, their blocks, each cell's slice. A block
/// that one of the cells lacks is left out; one that counts in several attempts has several slices.
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
    let rounds: BTreeSet<u32> = blocks.iter().map(|((round, ..), _)| *round).collect();
    let of_round = |round: &u32| {
        blocks.iter().filter(|(place, _)| place.0 == *round).map(|(_, slices)| slices.clone()).collect()
    };
    match Unit::highest_replicated(rounds.len()) {
        Unit::Deployment => rounds.iter().map(of_round).collect(),
        Unit::Block => {
            let is_same = |one: &(Place, _), next: &(Place, _)| one.0.1 == next.0.1;
            blocks.chunk_by(is_same).map(|of| of.iter().map(|(_, slices)| slices.clone()).collect()).collect()
        }
    }
}

/// The same for a metric: what is seen once a deployment has the deployments as units, even a single one, of which each cell has a figure.
pub fn units_of<'a>(metric: &Metric, counted: &Counted<'a>, cells: &[CellId]) -> Vec<Vec<Vec<&'a SliceRow>>> {
    let units = units(counted, cells);
    let Kind::OfDeployments(figures) = &metric.kind else { return units };
    let is_known = |slices: &Vec<&SliceRow>| slices.iter().all(|slice| figures.at(slice).is_some());
    by_deployment(units.into_iter().flatten().filter(is_known), |slices| slices[0].round)
}

/// Blocks in the order of measurement, those of each deployment together.
fn by_deployment<B: Clone>(blocks: impl Iterator<Item = B>, round: impl Fn(&B) -> u32) -> Vec<Vec<B>> {
    let blocks: Vec<B> = blocks.collect();
    blocks.chunk_by(|one, next| round(one) == round(next)).map(<[B]>::to_vec).collect()
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

    /// The slices of all sides.
    fn slices(self) -> impl Iterator<Item = &'a SliceRow> {
        [Some(self.baseline), self.twin, Some(self.candidate)].into_iter().flatten()
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

    /// The same with the units of a metric that is seen once a deployment (see [`units_of`]); `None` for others, which have these.
    pub fn of_deployments(&self, metric: &Metric) -> Option<Paired<'a>> {
        let Kind::OfDeployments(figures) = &metric.kind else { return None };
        let is_known = |block: &Block<'_>| block.slices().all(|slice| figures.at(slice).is_some());
        let units = by_deployment(self.blocks().filter(is_known), |block| block.baseline.round);
        Some(Paired { units, twin: self.twin, requests: Default::default() })
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
        self.blocks().flat_map(Block::slices)
    }

    /// How many blocks there are, however many attempts at them count.
    pub fn count(&self) -> usize {
        let places = self.blocks().map(|block| (block.baseline.round, block.baseline.block));
        places.collect::<BTreeSet<BlockAt>>().len()
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
