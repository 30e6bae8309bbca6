//! What disturbs made-up runs: the weather, which all cells of a block are exposed to one after the other, and stalls.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// What disturbs a run.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    pub name: &'static str,
    /// Standard deviation of the weather, µs, and how much of it is still there in the next slice.
    pub weather_us: f64,
    pub correlation: f64,
    /// Rise from slice to slice, µs.
    pub drift_us: f64,
    /// Chance of a slice to be in a loud spell, whose weather is ten times as rough.
    pub loud: f64,
    /// Who stalls, and for how long.
    pub stalls: Option<Stalls>,
}

/// Stalls of the service.
#[derive(Clone, Copy, Debug)]
pub struct Stalls {
    /// Stalls in a slice, on average.
    pub a_slice: f64,
    /// Requests that each delays, by a part of its length that is uniform from 0 to 1.
    pub requests: u64,
    /// Its length, or the least, µs.
    pub us: f64,
    /// The index of its Pareto distribution, unless all are alike.
    pub pareto: Option<f64>,
    /// Whether the candidate alone has them.
    pub candidate_alone: bool,
}

impl Noise {
    /// Requests differ, and nothing else.
    pub const QUIET: Noise =
        Noise { name: "quiet", weather_us: 0.0, correlation: 0.0, drift_us: 0.0, loud: 0.0, stalls: None };
    /// As on a shared machine: what is near in time is alike.
    pub const CORRELATED: Noise =
        Noise { name: "correlated bursts", weather_us: 3.0, correlation: 0.45, ..Noise::QUIET };
    /// All gets slower.
    pub const DRIFT: Noise = Noise { name: "drift", weather_us: 1.0, drift_us: 0.5, ..Noise::QUIET };
    /// Now and then somebody else is loud.
    pub const LOUD: Noise = Noise { name: "loud spells", weather_us: 2.0, loud: 0.1, ..Noise::CORRELATED };
    /// The candidate stalls by itself, 2 ms once a slice.
    pub const STALLING: Noise = Noise { name: "one side stalling", stalls: Some(STALLS), ..Noise::QUIET };
    /// So do both.
    pub const BOTH_STALLING: Noise = Noise {
        name: "both sides stalling",
        stalls: Some(Stalls { candidate_alone: false, ..STALLS }),
        ..Noise::QUIET
    };
    /// Stalls without a variance: the longest outweighs all others.
    pub const HEAVY_TAIL: Noise = Noise {
        name: "Pareto(1.3) stalls of one side",
        stalls: Some(Stalls { us: 500.0, pareto: Some(1.3), ..STALLS }),
        ..Noise::QUIET
    };

    /// The weather of a deployment.
    pub fn weather(self) -> Weather {
        Weather { noise: self, state: 0.0, slices: 0.0 }
    }

    /// The response times of a slice, ns, in no order.
    pub fn responses_ns(
        &self,
        base_us: f64,
        is_candidate: bool,
        requests: u64,
        random: &mut Pcg64,
    ) -> Vec<u64> {
        let mut us: Vec<f64> = (0..requests).map(|_| base_us + 10.0 * normal(random)).collect();
        let stalls = self.stalls.filter(|stalls| is_candidate || !stalls.candidate_alone);
        if let Some(stalls) = stalls {
            let mut hit = 0;
            for _ in 0..poisson(stalls.a_slice, random) {
                let length =
                    stalls.us * stalls.pareto.map_or(1.0, |index| uniform(random).powf(-1.0 / index));
                for _ in 0..stalls.requests {
                    let Some(us) = us.get_mut(hit) else { break };
                    *us += length * uniform(random);
                    hit += 1;
                }
            }
        }
        us.into_iter().map(|us| (us.max(1.0) * 1e3) as u64).collect()
    }

    /// By how much stalls raise the candidate's mean, µs.
    pub fn mean_of_stalls_us(&self, requests: u64) -> f64 {
        let Some(stalls) = self.stalls.filter(|stalls| stalls.candidate_alone) else { return 0.0 };
        let length = stalls.us * stalls.pareto.map_or(1.0, |index| index / (index - 1.0));
        stalls.a_slice * stalls.requests as f64 * length / 2.0 / requests as f64
    }
}

const STALLS: Stalls = Stalls { a_slice: 1.2, requests: 4, us: 2_000.0, pareto: None, candidate_alone: true };

/// How the machine is, slice after slice.
pub struct Weather {
    noise: Noise,
    state: f64,
    slices: f64,
}

impl Weather {
    /// What it adds to the next slice, µs.
    pub fn next(&mut self, random: &mut Pcg64) -> f64 {
        let Noise { weather_us, correlation, drift_us, loud, .. } = self.noise;
        self.state = correlation * self.state + (1.0 - correlation * correlation).sqrt() * normal(random);
        self.slices += 1.0;
        let rough = if uniform(random) < loud { 10.0 } else { 1.0 };
        weather_us * rough * self.state + drift_us * self.slices
    }
}

fn uniform(random: &mut Pcg64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A standard normal figure, by Box and Muller.
pub fn normal(random: &mut Pcg64) -> f64 {
    let (radius, angle) = ((-2.0 * uniform(random).ln()).sqrt(), std::f64::consts::TAU * uniform(random));
    radius * angle.cos()
}

/// A Poisson count, by Knuth's product of uniforms.
fn poisson(mean: f64, random: &mut Pcg64) -> u32 {
    let (least, mut product, mut count) = ((-mean).exp(), uniform(random), 0);
    while product > least {
        product *= uniform(random);
        count += 1;
    }
    count
}
