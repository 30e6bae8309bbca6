//! What disturbs made-up runs: how requests and deployments differ, the weather, which all cells of a block are exposed to one after the
//! other, and stalls.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// What disturbs a run.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    pub name: &'static str,
    /// How requests differ.
    pub requests: Requests,
    /// How deployments of the same thing differ.
    pub deployments: Deployments,
    /// How many times as rough the candidate's weather is.
    pub candidate_times: f64,
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

/// How requests differ from each other.
#[derive(Clone, Copy, Debug)]
pub enum Requests {
    /// By a normal figure with a standard deviation of 10 µs.
    Normal,
    /// By a lognormal figure: a median of 20 µs, a mean of 33 µs, and one in a hundred above 200 µs.
    Lognormal,
}

/// How deployments of the same thing differ from each other.
#[derive(Clone, Copy, Debug)]
pub enum Deployments {
    /// Not at all.
    Alike,
    /// By a normal figure with this standard deviation, µs.
    Normal(f64),
    /// By an exponential figure with this mean, µs: a few are far slower.
    Exponential(f64),
    /// One of three is slower by so much, µs, as if it had been placed badly.
    TwoModes(f64),
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
    pub const QUIET: Noise = Noise {
        name: "quiet",
        requests: Requests::Normal,
        deployments: Deployments::Alike,
        candidate_times: 1.0,
        weather_us: 0.0,
        correlation: 0.0,
        drift_us: 0.0,
        loud: 0.0,
        stalls: None,
    };
    /// Most requests are answered alike, some take far longer.
    pub const HEAVY_REQUESTS: Noise =
        Noise { name: "heavy tails", requests: Requests::Lognormal, ..Noise::QUIET };
    /// One start of a service differs from the next.
    pub const DEPLOYMENTS: Noise =
        Noise { name: "deployments that differ", deployments: Deployments::Normal(3.0), ..Noise::QUIET };
    /// A few starts are far worse than the others.
    pub const SKEWED_DEPLOYMENTS: Noise =
        Noise { name: "few slow deployments", deployments: Deployments::Exponential(3.0), ..Noise::QUIET };
    /// Starts are of two kinds.
    pub const TWO_MODES: Noise =
        Noise { name: "deployments of two kinds", deployments: Deployments::TwoModes(6.0), ..Noise::QUIET };
    /// What is compared varies more than what it is compared with.
    pub const ROUGH_CANDIDATE: Noise = Noise {
        name: "a candidate that varies more",
        candidate_times: 4.0,
        weather_us: 1.0,
        ..Noise::CORRELATED
    };
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
    pub fn weather(self, random: &mut Pcg64) -> Weather {
        Weather { noise: self, state: normal(random), slices: 0.0 }
    }

    /// The response times of a slice, ns, in no order.
    pub fn responses_ns(
        &self,
        base_us: f64,
        is_candidate: bool,
        requests: u64,
        random: &mut Pcg64,
    ) -> Vec<u64> {
        let mut us: Vec<f64> = (0..requests).map(|_| base_us + self.requests.next(random)).collect();
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

impl Requests {
    /// What a request takes beyond the base, µs.
    fn next(self, random: &mut Pcg64) -> f64 {
        match self {
            Requests::Normal => 10.0 * normal(random),
            Requests::Lognormal => 20.0 * normal(random).exp(),
        }
    }
}

impl Deployments {
    /// What a deployment adds to all of its requests, µs.
    pub fn next(self, random: &mut Pcg64) -> f64 {
        match self {
            Deployments::Alike => 0.0,
            Deployments::Normal(deviation) => deviation * normal(random),
            Deployments::Exponential(mean) => -mean * uniform(random).ln(),
            Deployments::TwoModes(slower) if uniform(random) < 1.0 / 3.0 => slower,
            Deployments::TwoModes(_) => 0.0,
        }
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
    pub fn next(&mut self, is_candidate: bool, random: &mut Pcg64) -> f64 {
        let Noise { weather_us, correlation, drift_us, loud, .. } = self.noise;
        self.state = correlation * self.state + (1.0 - correlation * correlation).sqrt() * normal(random);
        self.slices += 1.0;
        let rough = if uniform(random) < loud { 10.0 } else { 1.0 };
        let times = if is_candidate { self.noise.candidate_times } else { 1.0 };
        weather_us * times * rough * self.state + drift_us * self.slices
    }
}

/// Between 0 and 1.
pub fn uniform(random: &mut Pcg64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A standard normal figure, by Box and Muller.
pub fn normal(random: &mut Pcg64) -> f64 {
    let (radius, angle) = ((-2.0 * uniform(random).ln()).sqrt(), std::f64::consts::TAU * uniform(random));
    radius * angle.cos()
}

/// Any order is as likely as any other.
pub fn shuffle<T>(items: &mut [T], random: &mut Pcg64) {
    for at in (1..items.len()).rev() {
        items.swap(at, (uniform(random) * (at + 1) as f64) as usize);
    }
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
