//! The order of everything that is random: which sites are deployed first, which cell comes next, when requests are due.
//!
//! All of it follows from the experiment's seed, so that the same seed gives the same order.

mod neighbours;

use std::time::Duration;

use loadline_model::experiment::Isolation;
use loadline_model::plan::Plan;
use loadline_model::{CellId, LoadId, SiteId};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The random streams of a run.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    seed: u64,
}

/// The purpose of a random stream, which makes streams of the same round and block independent.
#[derive(Clone, Copy)]
enum Purpose {
    Stages = 1,
    Order = 2,
    Schedule = 3,
    Offsets = 4,
    WarmUp = 5,
    Profile = 6,
    Tail = 7,
}

impl Order {
    /// The order for a seed.
    pub fn new(seed: u64) -> Order {
        Order { seed }
    }

    /// Which sites are deployed together: all of them, or one after the other; in a new order each round.
    pub fn stages(self, plan: &Plan, isolation: Isolation, round: u32) -> Vec<Vec<SiteId>> {
        let mut sites: Vec<SiteId> = (0..plan.sites.len()).map(SiteId).collect();
        shuffle(&mut sites, &mut self.stream(Purpose::Stages, round, 0, 0));
        match isolation {
            Isolation::Shared => vec![sites],
            Isolation::Exclusive => sites.into_iter().map(|site| vec![site]).collect(),
        }
    }

    /// The groups of a block, each with the offsets of its cells' schedules: the loads in random order, and the groups of each load, which are
    /// compared with each other, in adjacent turns (see [`neighbours`]). A cell is a group of its own, unless it is measured side by side with
    /// the others of its load, spread over the mean gap between two requests.
    pub fn block(
        self,
        plan: &Plan,
        round: u32,
        block: u32,
        cells: &[CellId],
        side_by_side: &[CellId],
        gap: &dyn Fn(LoadId) -> Duration,
    ) -> Vec<Vec<(CellId, Duration)>> {
        let mut loads: Vec<LoadId> = Vec::new();
        for load in cells.iter().map(|cell| plan.load_of(*cell)) {
            if !loads.contains(&load) {
                loads.push(load);
            }
        }
        let mut stream = self.stream(Purpose::Order, round, block, 0);
        shuffle(&mut loads, &mut stream);
        let mut groups = Vec::new();
        for load in loads {
            let of_load: Vec<CellId> =
                cells.iter().copied().filter(|cell| plan.load_of(*cell) == load).collect();
            let (together, alone): (Vec<CellId>, Vec<CellId>) = neighbours::ring(plan, &of_load, &mut stream)
                .into_iter()
                .partition(|cell| side_by_side.contains(cell));
            let mut adjacent: Vec<Vec<(CellId, Duration)>> =
                alone.into_iter().map(|cell| vec![(cell, Duration::ZERO)]).collect();
            if !together.is_empty() {
                let at = random_index(&mut stream, adjacent.len() + 1);
                adjacent.insert(at, self.offsets(round, block, load, together, gap(load)));
            }
            groups.extend(adjacent);
        }
        groups
    }

    /// Spreads the cells over the mean gap between two requests, in a new random order.
    fn offsets(
        self,
        round: u32,
        block: u32,
        load: LoadId,
        mut cells: Vec<CellId>,
        gap: Duration,
    ) -> Vec<(CellId, Duration)> {
        shuffle(&mut cells, &mut self.stream(Purpose::Offsets, round, block, load.0));
        let step = gap / cells.len().max(1) as u32;
        cells.into_iter().enumerate().map(|(turn, cell)| (cell, step * turn as u32)).collect()
    }

    /// Seed of the schedule: the same for every cell of a block with the same load, repeats included.
    pub fn schedule_seed(self, round: u32, block: u32, load: LoadId) -> u64 {
        self.stream(Purpose::Schedule, round, block, load.0).next_u64()
    }

    /// Seed of a warm-up cycle's schedule.
    pub fn warm_up_seed(self, round: u32, cycle: u32, load: LoadId) -> u64 {
        self.stream(Purpose::WarmUp, round, cycle, load.0).next_u64()
    }

    /// Seed of a profiled slice's schedule: the same for every cell with the same load.
    pub fn profile_seed(self, round: u32, load: LoadId) -> u64 {
        self.stream(Purpose::Profile, round, 0, load.0).next_u64()
    }

    /// Seed of the schedule of a slice that is watched: the same for every cell with the same load.
    pub fn tail_seed(self, round: u32, load: LoadId) -> u64 {
        self.stream(Purpose::Tail, round, 0, load.0).next_u64()
    }

    fn stream(self, purpose: Purpose, round: u32, block: u32, load: usize) -> Pcg64 {
        let mut state = self.seed;
        for part in [purpose as u64, u64::from(round), u64::from(block), load as u64] {
            state = split_mix(state ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        Pcg64::seed_from_u64(state)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"): near seeds give
/// uncorrelated streams.
fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fisher and Yates' shuffle. Implemented here because the order must not change with versions of a library.
fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, random_index(rng, last + 1));
    }
}

/// One of so many indices, each with the same chance.
fn random_index(rng: &mut impl Rng, count: usize) -> usize {
    ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize
}
