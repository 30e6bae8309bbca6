//! The order of a run: which sites are deployed together, in which order cells take turns, and the seeds of their schedules.
//!
//! All of it follows from the plan and its seed, so that the same seed gives the same order.

use std::time::Duration;

use loadline_model::experiment::Isolation;
pub use loadline_model::plan::{CellPlan, Plan, Role, Site};
use loadline_model::{CellId, LoadId, SiteId};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// One turn of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// One cell alone.
    Slice(CellId),
    /// Cells side by side, request by request, each with the offset of its schedule.
    SideBySide(Vec<(CellId, Duration)>),
}

/// What a random stream is for; keeps streams of the same round and block apart.
#[derive(Clone, Copy)]
enum Purpose {
    Stages = 1,
    Order = 2,
    Schedule = 3,
    Offsets = 4,
    WarmUp = 5,
    Profile = 6,
}

/// The order in which a plan is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a>(pub &'a Plan);

impl Order<'_> {
    /// Which sites are deployed together: all of them, or one after the other; in a new order each round.
    pub fn stages(&self, isolation: Isolation, round: u32) -> Vec<Vec<SiteId>> {
        let mut sites: Vec<SiteId> = self.0.site_ids().collect();
        shuffle(&mut sites, &mut self.stream(Purpose::Stages, round, 0, LoadId(0)));
        match isolation {
            Isolation::Shared => vec![sites],
            Isolation::Exclusive => sites.into_iter().map(|site| vec![site]).collect(),
        }
    }

    /// The turns of a block in their random order. `side_by_side` cells of the same load share one turn.
    pub fn block(
        &self,
        round: u32,
        block: u32,
        cells: &[CellId],
        side_by_side: &[CellId],
        gap: &dyn Fn(LoadId) -> Duration,
    ) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut loads_done = Vec::new();
        for cell in cells {
            let load = self.0.load_of(*cell);
            if !side_by_side.contains(cell) {
                turns.push(Turn::Slice(*cell));
            } else if !loads_done.contains(&load) {
                loads_done.push(load);
                let together: Vec<CellId> =
                    side_by_side.iter().copied().filter(|other| self.0.load_of(*other) == load).collect();
                turns.push(Turn::SideBySide(self.offsets(round, block, load, together, gap(load))));
            }
        }
        shuffle(&mut turns, &mut self.stream(Purpose::Order, round, block, LoadId(0)));
        turns
    }

    /// Spreads the cells over the mean gap between two requests, in a new random order.
    fn offsets(
        &self,
        round: u32,
        block: u32,
        load: LoadId,
        mut cells: Vec<CellId>,
        gap: Duration,
    ) -> Vec<(CellId, Duration)> {
        shuffle(&mut cells, &mut self.stream(Purpose::Offsets, round, block, load));
        let step = gap / cells.len().max(1) as u32;
        cells.into_iter().enumerate().map(|(turn, cell)| (cell, step * turn as u32)).collect()
    }

    /// Seed of the schedule: the same for every cell of a block with the same load, repeats included.
    pub fn schedule_seed(&self, round: u32, block: u32, load: LoadId) -> u64 {
        self.stream(Purpose::Schedule, round, block, load).next_u64()
    }

    /// Seed of a warm-up cycle's schedule.
    pub fn warm_up_seed(&self, round: u32, cycle: u32, load: LoadId) -> u64 {
        self.stream(Purpose::WarmUp, round, cycle, load).next_u64()
    }

    /// Seed of a profiled slice's schedule: the same for every cell with the same load.
    pub fn profile_seed(&self, round: u32, load: LoadId) -> u64 {
        self.stream(Purpose::Profile, round, 0, load).next_u64()
    }

    fn stream(&self, purpose: Purpose, round: u32, block: u32, load: LoadId) -> Pcg64 {
        let mut state = self.0.seed;
        for part in [purpose as u64, u64::from(round), u64::from(block), load.0 as u64] {
            state = split_mix(state ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        Pcg64::seed_from_u64(state)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"): near seeds give
/// streams that have nothing in common.
fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fisher and Yates' shuffle. Written out because the order must stay the same over versions of a library.
fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let chosen = ((u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        items.swap(last, chosen);
    }
}
