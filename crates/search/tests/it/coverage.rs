//! How often the interval holds the truth, and how many trials that takes.

use loadline_search::estimate;

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
    ("M/M/1, p99 within 50 ms", |seed| (Box::new(Queue::single(seed)), Queue::single_capacity())),
    ("M/D/1, p99 within 20 ms", deterministic),
    ("a cliff", |seed| cliff(seed, 0.0)),
    ("a cliff that differs by 1 % from slice to slice", |seed| cliff(seed, 0.01)),
    ("a cliff that differs by 4 % from slice to slice", |seed| cliff(seed, 0.04)),
];

fn deterministic(seed: u64) -> (Box<dyn Service>, f64) {
    let queue = Queue { exponential: false, within_s: 0.02, ..Queue::single(seed) };
    (Box::new(queue), MD1_CAPACITY)
}

/// Of M/D/1 with 1 ms a request and p99 within 20 ms: the rate for which P(W > 19 ms) is 1 %, by P(W > t) ~ C·exp(−x·t/1 ms) with
/// ρ(exp(x) − 1) = x and C = (1 − ρ) ÷ (ρ·exp(x) − 1) (Tijms, "A First Course in Stochastic Models", 2003, section 9.2).
const MD1_CAPACITY: f64 = 885.6;

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
        let seen = coverage(make, 60);
        println!("{name}: {:.1} %, {:.1} trials", 100.0 * seen.coverage(), seen.each());
        // Of 60 with 95 % each, fewer than 51 is one case in 10,000.
        assert!(seen.held >= 51, "{name}: {seen:?}");
    }
}
