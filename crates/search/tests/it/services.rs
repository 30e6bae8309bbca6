//! Services whose capacity is known, and searches of them.

use loadline_model::experiment::{Bound, Capacity, Objective};
use loadline_model::rows::Purpose;
use loadline_search::{Goal, Next, Probe, Trial, next};
use rand::RngExt;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

/// The goal of all searches: two percent, of a rate that is up to ten times higher than the first.
pub const GOAL: Goal = Goal { from: 100.0, least: 1.0, most: 1e6, precision: 0.02, most_trials: 120 };

/// What the servers of a queue work off, requests a second.
const CARRIED: f64 = 1_000.0;

/// A service in simulated time.
pub trait Service {
    /// Whether a slice of this rate and length meets the objective.
    fn passes(&mut self, probe: &Probe) -> bool;
}

/// Searches a service to the end.
pub fn search(service: &mut dyn Service) -> Vec<Trial> {
    let mut trials = Vec::new();
    while let Next::Try(probes) = next(&GOAL, &trials) {
        for probe in probes {
            let passed = service.passes(&probe);
            trials.push(Trial { rate: probe.rate, slices: probe.slices, passed, purpose: probe.purpose });
        }
    }
    trials
}

pub fn random(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Exponentially distributed.
fn exponential(mean: f64, random: &mut Pcg64) -> f64 {
    -mean * (1.0 - random.random::<f64>()).ln()
}

/// How long requests take at a server.
#[derive(Clone, Copy)]
pub enum Times {
    Alike,
    Exponential,
    /// With a standard deviation of 1 in logarithms: one in a hundred takes six times as long as the mean.
    LogNormal,
}

/// Poisson arrivals at several servers with a queue before them, which together work off a thousand requests a second. Each slice begins with an
/// empty queue.
pub struct Queue {
    pub servers: usize,
    pub times: Times,
    /// The objective for the 99th percentile of the response times, s.
    pub within_s: f64,
    pub random: Pcg64,
}

impl Queue {
    fn service_s(&mut self) -> f64 {
        let mean_s = self.servers as f64 / CARRIED;
        match self.times {
            Times::Alike => mean_s,
            Times::Exponential => exponential(mean_s, &mut self.random),
            Times::LogNormal => mean_s * (normal(&mut self.random) - 0.5).exp(),
        }
    }

    /// Length of a slice of a search with this objective, s.
    fn slice_s(&self, rate: f64) -> f64 {
        let bound = Bound::AtMost(self.within_s * 1e9);
        let (text, metric) = (String::new(), "response.p99".to_owned());
        let objective = Objective { text, metric, bound, unit: None };
        Capacity { objectives: vec![objective], precision: GOAL.precision, most: None }.slice_s(rate)
    }

    fn response_s(&mut self, rate: f64, length_s: f64) -> f64 {
        let mut free_at = vec![0.0f64; self.servers];
        let (mut now, mut responses) = (0.0, Vec::new());
        loop {
            now += exponential(1.0 / rate, &mut self.random);
            if now > length_s {
                break;
            }
            let earliest =
                (0..free_at.len()).min_by(|left, right| free_at[*left].total_cmp(&free_at[*right]));
            let service_s = self.service_s();
            let server = &mut free_at[earliest.expect("there is a server")];
            *server = server.max(now) + service_s;
            responses.push(*server - now);
        }
        responses.sort_by(f64::total_cmp);
        responses.get(responses.len() * 99 / 100).copied().unwrap_or(0.0)
    }
}

impl Service for Queue {
    fn passes(&mut self, probe: &Probe) -> bool {
        // Far beyond its capacity the queue of a whole slice is longer than the objective, however it began.
        if probe.rate > 1.5 * CARRIED {
            return false;
        }
        self.response_s(probe.rate, self.slice_s(probe.rate) * probe.slices) <= self.within_s
    }
}

/// It carries everything up to a rate, which differs a little from slice to slice, and nothing beyond.
pub struct Cliff {
    pub capacity: f64,
    /// Standard deviation of the rate's logarithm.
    pub noise: f64,
    pub random: Pcg64,
}

impl Service for Cliff {
    fn passes(&mut self, probe: &Probe) -> bool {
        let noise = self.noise * normal(&mut self.random);
        probe.rate <= self.capacity * (noise / probe.slices.sqrt()).exp()
    }
}

/// A standard normal number.
pub fn normal(random: &mut Pcg64) -> f64 {
    // Box and Muller.
    let (one, two): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

/// A cliff that moves down with every slice under load.
pub struct Leak {
    pub cliff: Cliff,
    /// By which share each slice lowers what it carries.
    pub each: f64,
}

impl Service for Leak {
    fn passes(&mut self, probe: &Probe) -> bool {
        let passed = self.cliff.passes(probe);
        self.cliff.capacity *= (-self.each * probe.slices).exp();
        passed
    }
}

/// Once overloaded it carries less, until it is loaded with much less.
pub struct Hysteresis {
    pub cliff: Cliff,
    /// What it carries in its bad state, of its capacity.
    pub bad: f64,
    pub is_bad: bool,
}

impl Service for Hysteresis {
    fn passes(&mut self, probe: &Probe) -> bool {
        let bad = self.cliff.capacity * self.bad;
        if self.is_bad {
            self.is_bad = probe.rate > bad;
            return !self.is_bad;
        }
        // A slice a little beyond its capacity leaves nothing behind.
        self.is_bad = probe.rate > 1.3 * self.cliff.capacity;
        self.cliff.passes(probe)
    }
}

/// A cliff that is lower in longer trials.
pub struct Tiring {
    pub cliff: Cliff,
    /// What it carries in trials of several slices, of its capacity.
    pub for_longer: f64,
}

impl Service for Tiring {
    fn passes(&mut self, probe: &Probe) -> bool {
        let rate = if probe.slices > 1.0 { probe.rate / self.for_longer } else { probe.rate };
        self.cliff.passes(&Probe { rate, ..*probe })
    }
}

/// In half of the slices it carries less.
pub struct Bimodal {
    pub cliff: Cliff,
    pub less: f64,
}

impl Service for Bimodal {
    fn passes(&mut self, probe: &Probe) -> bool {
        let is_less = self.cliff.random.random::<f64>() < 0.5;
        let rate = if is_less { probe.rate / self.less } else { probe.rate };
        self.cliff.passes(&Probe { rate, purpose: Purpose::Search, ..*probe })
    }
}
