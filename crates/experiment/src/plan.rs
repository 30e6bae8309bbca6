//! The plan of a run: which services are deployed, which cells are measured, and in which order.
//!
//! All of it follows from the experiment and its seed, so that the same seed gives the same plan.

use std::time::Duration;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::spec::{Experiment, Isolation};

/// A service on a platform: what is deployed, once a round. Several cells, one per load, measure the same site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Index of the service in the experiment.
    pub service: usize,
    /// Index of the platform in the experiment.
    pub platform: usize,
    /// Whether this is a second deployment of the baseline, or of the top of a ladder.
    pub twin: bool,
}

/// What a cell is compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// First service on the first platform.
    Baseline,
    /// The second deployment of the cell that it is compared with.
    Twin,
    /// Everything else.
    Candidate,
}

/// One service × platform × load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellPlan {
    /// Index of the site.
    pub site: usize,
    /// Index of the load in the experiment.
    pub load: usize,
    /// What the cell is compared as.
    pub role: Role,
    /// Index of the cell that it is compared with; none for a baseline.
    pub against: Option<usize>,
}

/// Sites and cells of a run. Cells are ordered by load, then by site, the baseline first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is deployed each round.
    pub sites: Vec<Site>,
    /// What is measured each block.
    pub cells: Vec<CellPlan>,
    seed: u64,
}

/// One turn of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// One cell alone.
    Slice(usize),
    /// Cells side by side, request by request, each with the offset of its schedule.
    SideBySide(Vec<(usize, Duration)>),
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

impl Plan {
    /// The plan of an experiment.
    pub fn new(experiment: &Experiment) -> Plan {
        let mut sites = vec![Site { service: 0, platform: 0, twin: false }];
        if experiment.plan.twin {
            sites.push(Site { service: 0, platform: 0, twin: true });
            let tops = experiment.platforms.iter().enumerate().filter(|(_, platform)| platform.top);
            sites.extend(tops.map(|(platform, _)| Site { service: 0, platform, twin: true }));
        }
        for service in 0..experiment.services.len() {
            for platform in 0..experiment.platforms.len() {
                if (service, platform) != (0, 0) {
                    sites.push(Site { service, platform, twin: false });
                }
            }
        }
        let mut cells = Vec::new();
        for load in 0..experiment.loads.len() {
            let first = cells.len();
            for (index, site) in sites.iter().enumerate() {
                let cell_of =
                    |wanted: Site| sites.iter().position(|site| *site == wanted).map(|index| first + index);
                let (role, against) = match site {
                    Site { service: 0, platform: 0, twin: false } => (Role::Baseline, None),
                    Site { twin: true, .. } => (Role::Twin, cell_of(Site { twin: false, ..*site })),
                    // A platform is judged with its own service, against the one below it; a service on the first platform.
                    Site { service, platform, .. } if *platform > 0 => {
                        let below = experiment.platforms[*platform].above.unwrap_or(0);
                        (Role::Candidate, cell_of(Site { service: *service, platform: below, twin: false }))
                    }
                    _ => (Role::Candidate, Some(first)),
                };
                cells.push(CellPlan { site: index, load, role, against });
            }
        }
        Plan { sites, cells, seed: experiment.plan.seed }
    }

    /// Which sites are deployed together: all of them, or one after the other; in a new order each round.
    pub fn stages(&self, isolation: Isolation, round: u32) -> Vec<Vec<usize>> {
        let mut sites: Vec<usize> = (0..self.sites.len()).collect();
        shuffle(&mut sites, &mut self.stream(Purpose::Stages, round, 0, 0));
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
        cells: &[usize],
        side_by_side: &[usize],
        gap: &dyn Fn(usize) -> Duration,
    ) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut loads_done = Vec::new();
        for cell in cells {
            let load = self.cells[*cell].load;
            if !side_by_side.contains(cell) {
                turns.push(Turn::Slice(*cell));
            } else if !loads_done.contains(&load) {
                loads_done.push(load);
                let together: Vec<usize> =
                    side_by_side.iter().copied().filter(|other| self.cells[*other].load == load).collect();
                turns.push(Turn::SideBySide(self.offsets(round, block, load, together, gap(load))));
            }
        }
        shuffle(&mut turns, &mut self.stream(Purpose::Order, round, block, 0));
        turns
    }

    /// Spreads the cells over the mean gap between two requests, in a new random order.
    fn offsets(
        &self,
        round: u32,
        block: u32,
        load: usize,
        mut cells: Vec<usize>,
        gap: Duration,
    ) -> Vec<(usize, Duration)> {
        shuffle(&mut cells, &mut self.stream(Purpose::Offsets, round, block, load));
        let step = gap / cells.len().max(1) as u32;
        cells.into_iter().enumerate().map(|(turn, cell)| (cell, step * turn as u32)).collect()
    }

    /// Seed of the schedule: the same for every cell of a block with the same load, repeats included.
    pub fn schedule_seed(&self, round: u32, block: u32, load: usize) -> u64 {
        self.stream(Purpose::Schedule, round, block, load).next_u64()
    }

    /// Seed of a warm-up cycle's schedule.
    pub fn warm_up_seed(&self, round: u32, cycle: u32, load: usize) -> u64 {
        self.stream(Purpose::WarmUp, round, cycle, load).next_u64()
    }

    /// Seed of a profiled slice's schedule: the same for every cell with the same load.
    pub fn profile_seed(&self, round: u32, load: usize) -> u64 {
        self.stream(Purpose::Profile, round, 0, load).next_u64()
    }

    fn stream(&self, purpose: Purpose, round: u32, block: u32, load: usize) -> Pcg64 {
        let mut state = self.seed;
        for part in [purpose as u64, u64::from(round), u64::from(block), load as u64] {
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
