//! How often the interval holds the truth, and how many trials that takes.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use loadline_model::rows::Purpose;
use loadline_search::{Probe, estimate, irregularities};

use crate::services::{Cliff, GOAL, Queue, Service, Times, random, search};

/// What a number of searches found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub held: usize,
    pub missed: usize,
    pub trials: usize,
    /// Rates that were tried.
    pub rates: usize,
    /// Searches that say that the service is irregular.
    pub alarms: usize,
}

impl Seen {
    pub fn coverage(&self) -> f64 {
        self.held as f64 / (self.held + self.missed).max(1) as f64
    }

    /// Trials until the capacity is known, on average: those that confirm it, and overloads, are not among them.
    pub fn each(&self) -> f64 {
        self.of_each(self.trials)
    }

    /// Different rates among these.
    pub fn rates_each(&self) -> f64 {
        self.of_each(self.rates)
    }

    fn of_each(&self, sum: usize) -> f64 {
        sum as f64 / (self.held + self.missed).max(1) as f64
    }
}

/// Makes a service of a seed, with its capacity.
pub type Make = fn(u64) -> (Box<dyn Service>, f64);

/// The services, by name.
pub const SERVICES: [(&str, Make); 6] = [
    ("M/M/1, p99 within 50 ms", |seed| {
        static TRUTH: OnceLock<f64> = OnceLock::new();
        queue(&TRUTH, Queue { servers: 1, times: Times::Exponential, within_s: 0.05, random: random(seed) })
    }),
    ("M/D/1, p99 within 20 ms", |seed| {
        static TRUTH: OnceLock<f64> = OnceLock::new();
        queue(&TRUTH, Queue { servers: 1, times: Times::Alike, within_s: 0.02, random: random(seed) })
    }),
    ("M/G/4 with log-normal times, p99 within 50 ms", |seed| {
        static TRUTH: OnceLock<f64> = OnceLock::new();
        queue(&TRUTH, Queue { servers: 4, times: Times::LogNormal, within_s: 0.05, random: random(seed) })
    }),
    ("a cliff", |seed| cliff(seed, 0.0)),
    ("a cliff that differs by 1 % from slice to slice", |seed| cliff(seed, 0.01)),
    ("a cliff that differs by 4 % from slice to slice", |seed| cliff(seed, 0.04)),
];

fn queue(truth: &OnceLock<f64>, queue: Queue) -> (Box<dyn Service>, f64) {
    let truth =
        truth.get_or_init(|| half_fail(&mut Queue { random: random(u64::MAX), ..queue }, 1.0, SLICES));
    (Box::new(queue), *truth)
}

/// The rate at which half of the trials of so many slices fail, found by halving with many trials at each step.
pub fn half_fail(service: &mut dyn Service, slices: f64, trials: usize) -> f64 {
    let (mut low, mut high) = (500.0, 1_000.0);
    for _ in 0..12 {
        let rate = f64::midpoint(low, high);
        let probe = Probe { rate, slices, purpose: Purpose::Search };
        let passed = (0..trials).filter(|_| service.passes(&probe)).count();
        if 2 * passed >= trials { low = rate } else { high = rate }
    }
    low
}

/// Slices at each step towards the truth.
const SLICES: usize = 1_000;

fn cliff(seed: u64, noise: f64) -> (Box<dyn Service>, f64) {
    let mut random = random(seed);
    // Anywhere in a tenfold range.
    let capacity = GOAL.from * 10f64.powf(rand::RngExt::random::<f64>(&mut random));
    (Box::new(Cliff { capacity, noise, random }), capacity)
}

pub fn coverage(make: Make, searches: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..searches {
        let (mut service, truth) = make(seed);
        let trials = search(service.as_mut());
        let counted = trials.iter().filter(|trial| trial.counts());
        seen.trials += counted.clone().count();
        seen.rates += counted.map(|trial| trial.rate.to_bits()).collect::<BTreeSet<u64>>().len();
        seen.alarms += usize::from(!irregularities(&trials).is_empty());
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
        assert!(seen.held >= 7 && seen.alarms <= 3, "{name}: {seen:?}");
    }
}
