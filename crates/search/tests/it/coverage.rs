//! How often the interval holds the truth, and how many trials that takes.

use std::sync::OnceLock;

use loadline_model::rows::Purpose;
use loadline_search::{Probe, estimate};

use crate::services::{Cliff, Queue, Service, random, search};

/// What a number of searches found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub held: usize,
    pub missed: usize,
    pub trials: usize,
}

impl Seen {
    pub fn coverage(&self) -> f64 {
        self.held as f64 / (self.held + self.missed).max(1) as f64
    }

    /// Trials of a search, on average.
    pub fn each(&self) -> f64 {
        self.trials as f64 / (self.held + self.missed).max(1) as f64
    }
}

/// Makes a service of a seed, with its capacity.
pub type Make = fn(u64) -> (Box<dyn Service>, f64);

/// The services, by name.
pub const SERVICES: [(&str, Make); 5] = [
    ("M/M/1, p99 within 50 ms", |seed| queue(seed, true, 0.05)),
    ("M/D/1, p99 within 20 ms", |seed| queue(seed, false, 0.02)),
    ("a cliff", |seed| cliff(seed, 0.0)),
    ("a cliff that differs by 1 % from slice to slice", |seed| cliff(seed, 0.01)),
    ("a cliff that differs by 4 % from slice to slice", |seed| cliff(seed, 0.04)),
];

fn queue(seed: u64, exponential: bool, within_s: f64) -> (Box<dyn Service>, f64) {
    static TRUTHS: [OnceLock<f64>; 2] = [OnceLock::new(), OnceLock::new()];
    let of = |seed| Queue { exponential, within_s, ..Queue::single(seed) };
    let truth = TRUTHS[usize::from(exponential)].get_or_init(|| half_fail(&mut of(u64::MAX)));
    (Box::new(of(seed)), *truth)
}

/// The rate at which half of the slices fail, found by halving with many slices at each step.
fn half_fail(service: &mut dyn Service) -> f64 {
    let (mut low, mut high) = (500.0, 1_000.0);
    for _ in 0..12 {
        let rate = f64::midpoint(low, high);
        let probe = Probe { rate, slices: 1.0, purpose: Purpose::Search };
        let passed = (0..SLICES).filter(|_| service.passes(&probe)).count();
        if 2 * passed >= SLICES { low = rate } else { high = rate }
    }
    low
}

/// Slices at each step.
const SLICES: usize = 1_000;

fn cliff(seed: u64, noise: f64) -> (Box<dyn Service>, f64) {
    let mut random = random(seed);
    // Anywhere between 300 and 3,000.
    let capacity = 300.0 * 10f64.powf(rand::RngExt::random::<f64>(&mut random));
    (Box::new(Cliff { capacity, noise, random }), capacity)
}

pub fn coverage(make: Make, searches: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..searches {
        let (mut service, truth) = make(seed);
        let trials = search(service.as_mut());
        seen.trials += trials.len();
        match estimate(&trials) {
            Some(found) if found.interval[0] <= truth && truth <= found.interval[1] => seen.held += 1,
            _ => seen.missed += 1,
        }
    }
    seen
}

#[test]
fn an_interval_of_a_regular_service_holds_the_truth() {
    for (name, make) in SERVICES {
        let seen = coverage(make, 10);
        println!("{name}: {:.1} %, {:.1} trials", 100.0 * seen.coverage(), seen.each());
        // Of 10 with 95 % each, fewer than 7 is one case in 1,000.
        assert!(seen.held >= 7, "{name}: {seen:?}");
    }
}
